/** The brands of one account, including unpublished drafts. */
import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import type { Loading, PageProps } from '../page.tsx';
import { paths } from '../paths.ts';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { CheckField, Field, Form, SubmitButton } from '../ui/form.tsx';
import { Link } from '../ui/Link.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { Table } from '../ui/Table.tsx';
import { When } from '../ui/When.tsx';
import { AccountPage } from './AccountPage.tsx';
import css from './console.module.css';
import { Count, useChange } from './shared.tsx';

const brands = (username: string) => query('listAccountBrands', { path: { username } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(brands(params.username!));

export default function Brands({ params }: PageProps) {
  const t = useTranslate();
  const username = params.username!;
  const { data } = useSuspenseQuery(brands(username));
  const change = useChange();
  const navigate = useNavigate();
  const [making, setMaking] = useState(false);
  const make = (
    <Button variant="filled" leftSection={<IconPlus size={16} aria-hidden />} onClick={() => setMaking(true)}>
      {t(data.objects.length === 0 ? 'console.brands.create_default' : 'console.brands.create')}
    </Button>
  );
  return (
    <AccountPage
      username={username}
      title={t('nav.brands')}
      {...(data.objects.length > 0 ? { actions: make } : {})}
    >
      <Table
        label={t('nav.brands')}
        rows={data.objects}
        rowKey={({ external_id }) => external_id}
        empty={<Empty action={make}>{t('console.brands.empty')}</Empty>}
        columns={[
          {
            header: t('console.name'),
            wide: true,
            cell: ({ external_id, name }) => (
              <span className={css.row}>
                <Link to={paths.console.brand(username, external_id)}>
                  <bdi>{name}</bdi>
                </Link>
                {name !== external_id && <bdi className={css.code}>{external_id}</bdi>}
              </span>
            ),
          },
          {
            header: t('console.state'),
            cell: ({ version, draft, default: isDefault }) => (
              <span className={css.row}>
                {version > 0 && <StatusBadge status="published" />}
                {draft && <StatusBadge status="draft" />}
                {isDefault && <Tag>{t('console.default')}</Tag>}
              </span>
            ),
          },
          {
            header: t('console.languages'),
            cell: ({ languages }) => <bdi>{languages.map(({ language }) => language).join(', ') || '–'}</bdi>,
          },
          {
            header: t('console.terms'),
            align: 'end',
            cell: ({ languages }) => <Count value={languages.reduce((sum, { terms }) => sum + terms, 0)} />,
          },
          {
            header: t('console.changed'),
            cell: ({ changed_at }) => <When at={changed_at} />,
          },
        ]}
      />
      <Dialog title={t('console.brands.create')} opened={making} onClose={() => setMaking(false)}>
        <Form
          onSubmit={async (values) => {
            const body = {
              external_id: values.external_id ?? '',
              name: values.name || null,
              default: values.default === 'on',
            };
            const made = await change(() => call('beginBrand', { path: { username }, body }));
            await navigate({ to: paths.console.brand(username, made.external_id) });
          }}
        >
          <Field
            name="external_id"
            label={t('console.brands.id')}
            description={t('console.brands.id_about')}
            autoFocus
            ltr
          />
          <Field name="name" label={t('console.name')} optional />
          <CheckField
            name="default"
            label={t('console.brands.make_default')}
            defaultChecked={data.objects.length === 0}
          />
          <DialogActions>
            <Button onClick={() => setMaking(false)}>{t('ui.cancel')}</Button>
            <SubmitButton>{t('console.brands.create')}</SubmitButton>
          </DialogActions>
        </Form>
      </Dialog>
    </AccountPage>
  );
}
