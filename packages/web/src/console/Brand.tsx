/**
 * One brand: its published version and the draft of the next one. It shows one language at a time: tone, instructions,
 * glossary and a preview of an editor's view.
 */
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { BrandDraft, ConsoleBrand } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { type Loading, type PageProps, type Search, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { CheckField, ChoiceField, Field, Form, FormActions, SubmitButton, TextField } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { AccountPage } from './AccountPage.tsx';
import { BrandPatterns } from './BrandPatterns.tsx';
import { BrandPreview } from './BrandPreview.tsx';
import css from './console.module.css';
import { Glossary } from './Glossary.tsx';
import { LanguageField } from './pickers.tsx';
import { useChange } from './shared.tsx';

const brand = ({ username = '', brand = '' }: Record<string, string>) =>
  query('readConsoleBrand', { path: { username, brand } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(brand(params));

/** Returns the draft; if there is none, the published brand. */
function fieldsOf({ draft, published }: ConsoleBrand) {
  return draft ?? published!;
}

export default function Brand({ params, search }: PageProps) {
  const t = useTranslate();
  const { username = '', brand: externalId = '' } = params;
  const { data } = useSuspenseQuery(brand(params));
  const fields = fieldsOf(data);
  const filter = useFilters();
  const [adding, setAdding] = useState(false);
  const language = languageOf(search, data);
  return (
    <AccountPage
      username={username}
      title={fields.name}
      actions={<Publishing brand={data} username={username} />}
    >
      <VersionNotice brand={data} />
      <Settings username={username} brand={data} key={`settings ${data.draft?.revision ?? 0}`} />
      <BrandPatterns
        key={`patterns ${externalId}`}
        username={username}
        brand={externalId}
        revision={data.draft?.revision ?? 0}
        patterns={fields.protect}
      />
      <Section
        title={t('console.languages')}
        actions={<Button onClick={() => setAdding(true)}>{t('console.brand.add_language')}</Button>}
      >
        {fields.languages.length === 0 ? (
          <Card>
            <Empty>{t('console.brand.no_language')}</Empty>
          </Card>
        ) : (
          <fieldset className={css.choice} aria-label={t('console.languages')}>
            {fields.languages.map((one) => (
              <Button
                key={one.language}
                variant={one.language === language ? 'light' : 'default'}
                aria-pressed={one.language === language}
                onClick={() => filter({ language: one.language, q: undefined, offset: undefined })}
              >
                {`${one.language} (${one.terms})`}
              </Button>
            ))}
          </fieldset>
        )}
      </Section>
      {language !== undefined && (
        <>
          <Language
            key={`${language} ${data.draft?.revision ?? 0}`}
            username={username}
            brand={data}
            language={language}
          />
          <Glossary
            key={language}
            username={username}
            brand={externalId}
            revision={data.draft?.revision ?? 0}
            language={language}
            search={search}
          />
          <BrandPreview
            key={`preview ${language}`}
            username={username}
            brand={externalId}
            language={language}
          />
        </>
      )}
      <Dialog title={t('console.brand.add_language')} opened={adding} onClose={() => setAdding(false)}>
        <AddLanguage username={username} brand={data} onDone={() => setAdding(false)} />
      </Dialog>
    </AccountPage>
  );
}

function languageOf(search: Search, data: ConsoleBrand): string | undefined {
  const { languages } = fieldsOf(data);
  return (languages.find(({ language }) => language === search.language) ?? languages[0])?.language;
}

function VersionNotice({ brand: { published, draft } }: { brand: ConsoleBrand }) {
  const t = useTranslate();
  if (draft === null) {
    return (
      <div className={css.row}>
        <StatusBadge status="published" />
        <span className={css.muted}>{t('console.brand.version', { version: published!.version })}</span>
        {published!.default && <Tag>{t('console.default')}</Tag>}
      </div>
    );
  }
  return (
    <>
      {draft.stale && <Notice tone="warning">{t('console.brand.stale')}</Notice>}
      <Notice tone="info">
        {published === null
          ? t('console.brand.never')
          : t('console.brand.drafted', { version: published.version })}{' '}
        <small>
          <bdi>{draft.changed_by}</bdi>, <When at={draft.changed_at} />
        </small>
        <Changes draft={draft} />
      </Notice>
    </>
  );
}

/** Lists what publishing will change. */
function Changes({ draft: { changes } }: { draft: BrandDraft }) {
  const t = useTranslate();
  const lines = [
    ...(changes.name ? [t('console.brand.change.name')] : []),
    ...(changes.fallback ? [t('console.brand.change.fallback')] : []),
    ...(changes.votes ? [t('console.brand.change.votes')] : []),
    ...(changes.protect ? [t('console.brand.change.protect')] : []),
    ...(changes.default === 'becomes' ? [t('console.brand.change.default')] : []),
    ...(changes.default === 'no longer' ? [t('console.brand.change.no_default')] : []),
    ...changes.languages
      .filter(({ change }) => change !== 'unchanged')
      .map((one) =>
        t('console.brand.change.language', {
          language: one.language,
          change: one.change,
          tone: String(one.tone || one.instructions),
          added: one.added,
          changed: one.changed,
          removed: one.removed,
        }),
      ),
  ];
  if (lines.length === 0) return null;
  return (
    <ul aria-label={t('console.brand.changes')}>
      {lines.map((line) => (
        <li key={line}>{line}</li>
      ))}
    </ul>
  );
}

function Publishing({
  username,
  brand: { external_id, draft, published },
}: {
  username: string;
  brand: ConsoleBrand;
}) {
  const t = useTranslate();
  const change = useChange();
  const navigate = useNavigate();
  const [confirming, setConfirming] = useState<'publish' | 'discard' | 'remove'>();
  const close = () => setConfirming(undefined);
  const path = { username, brand: external_id };
  return (
    <>
      {draft === null ? (
        <Button onClick={() => setConfirming('remove')}>{t('console.brand.remove')}</Button>
      ) : (
        <>
          <Button onClick={() => setConfirming('discard')}>{t('console.brand.discard')}</Button>
          <Button variant="filled" onClick={() => setConfirming('publish')}>
            {t('console.brand.publish')}
          </Button>
        </>
      )}
      <ConfirmDialog
        title={t('console.brand.publish')}
        action={t('console.brand.publish')}
        opened={confirming === 'publish' && draft !== null}
        onClose={close}
        onConfirm={() =>
          change(
            () => call('publishBrand', { path, body: { revision: draft!.revision, anyway: draft!.stale } }),
            t('console.brand.published'),
          )
        }
      >
        {draft?.stale && <Notice tone="warning">{t('console.brand.stale')}</Notice>}
        <p>{t('console.brand.publish_about', { brand: external_id, username })}</p>
        {draft !== null && <Changes draft={draft} />}
      </ConfirmDialog>
      <ConfirmDialog
        title={t('console.brand.discard')}
        action={t('console.brand.discard')}
        danger
        opened={confirming === 'discard'}
        onClose={close}
        onConfirm={async () => {
          if (published === null) await navigate({ to: paths.console.brands(username) });
          await change(() => call('discardBrandDraft', { path }), t('console.brand.discarded'));
        }}
      >
        {t('console.brand.discard_about', { brand: external_id })}
      </ConfirmDialog>
      <ConfirmDialog
        title={t('console.brand.remove')}
        action={t('console.brand.remove')}
        danger
        opened={confirming === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await navigate({ to: paths.console.brands(username) });
          await change(() => call('removeBrand', { path }), t('console.brand.removed'));
        }}
      >
        {t('console.brand.remove_about', { brand: external_id })}
      </ConfirmDialog>
    </>
  );
}

function Settings({ username, brand: data }: { username: string; brand: ConsoleBrand }) {
  const t = useTranslate();
  const change = useChange();
  const fields = fieldsOf(data);
  return (
    <Card>
      <Form
        onSubmit={(values) =>
          change(
            () =>
              call('changeBrandDraft', {
                path: { username, brand: data.external_id },
                body: {
                  revision: data.draft?.revision ?? 0,
                  name: values.name ?? '',
                  default: values.default === 'on',
                  fallback: values.fallback as 'wait' | 'machine',
                  votes: values.votes as 'off' | 'draft' | 'confirm',
                },
              }),
            t('console.brand.saved'),
          )
        }
      >
        <Field name="name" label={t('console.name')} defaultValue={fields.name} />
        <CheckField name="default" label={t('console.brands.make_default')} defaultChecked={fields.default} />
        <ChoiceField
          name="fallback"
          label={t('console.brand.fallback')}
          defaultValue={fields.fallback}
          choices={[
            { value: 'wait', label: t('console.brand.fallback.wait') },
            { value: 'machine', label: t('console.brand.fallback.machine') },
          ]}
        />
        <ChoiceField
          name="votes"
          label={t('console.brand.votes')}
          defaultValue={fields.votes}
          choices={[
            { value: 'draft', label: t('console.brand.votes.draft') },
            { value: 'confirm', label: t('console.brand.votes.confirm') },
            { value: 'off', label: t('console.brand.votes.off') },
          ]}
        />
        <FormActions>
          <SubmitButton secondary>{t('console.brand.save')}</SubmitButton>
        </FormActions>
      </Form>
    </Card>
  );
}

interface LanguageProps {
  username: string;
  brand: ConsoleBrand;
  language: string;
}

function Language({ username, brand: data, language }: LanguageProps) {
  const t = useTranslate();
  const change = useChange();
  const [removing, setRemoving] = useState(false);
  const settings = fieldsOf(data).languages.find((one) => one.language === language)!;
  const path = { username, brand: data.external_id };
  const revision = data.draft?.revision ?? 0;
  return (
    <Section
      title={t('console.brand.language', { language })}
      actions={<Button onClick={() => setRemoving(true)}>{t('console.brand.remove_language')}</Button>}
    >
      <Card>
        <Form
          onSubmit={(values) =>
            change(
              () =>
                call('changeBrandDraft', {
                  path,
                  body: {
                    revision,
                    languages: {
                      [language]: {
                        tone: (values.tone || null) as 'Formal' | 'Informal' | null,
                        instructions: values.instructions || null,
                      },
                    },
                  },
                }),
              t('console.brand.saved'),
            )
          }
        >
          <ChoiceField
            name="tone"
            label={t('console.brand.tone')}
            defaultValue={settings.tone ?? ''}
            choices={[
              { value: '', label: t('console.none') },
              { value: 'Formal', label: t('tone', { tone: 'Formal' }) },
              { value: 'Informal', label: t('tone', { tone: 'Informal' }) },
            ]}
          />
          <TextField
            name="instructions"
            rows={4}
            label={t('console.brand.instructions')}
            description={t('console.brand.instructions_about')}
            defaultValue={settings.instructions ?? ''}
            optional
          />
          <FormActions>
            <SubmitButton secondary>{t('console.brand.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
      <ConfirmDialog
        title={t('console.brand.remove_language')}
        action={t('console.brand.remove_language')}
        danger
        opened={removing}
        onClose={() => setRemoving(false)}
        onConfirm={() =>
          change(() =>
            call('changeBrandDraft', { path, body: { revision, languages: { [language]: null } } }),
          )
        }
      >
        {t('console.brand.remove_language_about', { language, terms: settings.terms })}
      </ConfirmDialog>
    </Section>
  );
}

function AddLanguage({
  username,
  brand: data,
  onDone,
}: {
  username: string;
  brand: ConsoleBrand;
  onDone(): void;
}) {
  const t = useTranslate();
  const change = useChange();
  const filter = useFilters();
  return (
    <Form
      onSubmit={async (values) => {
        const language = (values.language ?? '').trim().toLowerCase().replaceAll('_', '-');
        if (fieldsOf(data).languages.some((one) => one.language === language)) {
          const fields = { language: t('console.brand.has_language') };
          throw new CallError('invalid_request', '', { fields });
        }
        await change(() =>
          call('changeBrandDraft', {
            path: { username, brand: data.external_id },
            body: { revision: data.draft?.revision ?? 0, languages: { [language]: {} } },
          }),
        );
        onDone();
        filter({ language });
      }}
    >
      <LanguageField
        name="language"
        label={t('console.brand.shortname')}
        description={t('console.brand.shortname_about')}
        autoFocus
      />
      <DialogActions>
        <Button onClick={onDone}>{t('ui.cancel')}</Button>
        <SubmitButton>{t('console.brand.add_language')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}
