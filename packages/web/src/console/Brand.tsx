/**
 * One brand: what is published, and the draft that takes its place when it is published. A language at a time: how it
 * is to sound, its glossary, and how an editor sees both beside a text.
 */
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { CallError, call, query } from '../api/client.ts';
import type { BrandDraft, ConsoleBrand } from '../api/generated.ts';
import { type Loading, type PageProps, type Search, useFilters } from '../page.tsx';
import { paths } from '../paths.ts';
import { ConfirmDialog, Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { CheckField, ChoiceField, Field, Form, FormActions, SubmitButton, TextField } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { StatusBadge, Tag } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import { AccountPage } from './AccountPage.tsx';
import { BrandPreview } from './BrandPreview.tsx';
import css from './console.module.css';
import { Glossary } from './Glossary.tsx';
import { useChange } from './parts.tsx';

const brand = ({ username = '', brand = '' }: Record<string, string>) =>
  query('readConsoleBrand', { path: { username, brand } });

export const load = ({ queries, params }: Loading) => queries.ensureQueryData(brand(params));

/** What is worked on: the draft, or the published brand where there is none. */
function fieldsOf({ draft, published }: ConsoleBrand) {
  return draft ?? published!;
}

export default function Brand({ params, search }: PageProps) {
  const say = useSay();
  const { username = '', brand: externalId = '' } = params;
  const { data } = useSuspenseQuery(brand(params));
  const fields = fieldsOf(data);
  const filter = useFilters();
  const [adding, setAdding] = useState(false);
  const language = chosen(search, data);
  return (
    <AccountPage
      username={username}
      title={fields.name}
      actions={<Publishing brand={data} username={username} />}
    >
      <State brand={data} />
      <Settings username={username} brand={data} key={`settings ${data.draft?.revision ?? 0}`} />
      <Section
        title={say('console.languages')}
        actions={<Button onClick={() => setAdding(true)}>{say('console.brand.add_language')}</Button>}
      >
        {fields.languages.length === 0 ? (
          <Card>
            <Empty>{say('console.brand.no_language')}</Empty>
          </Card>
        ) : (
          <fieldset className={css.choice} aria-label={say('console.languages')}>
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
      <Dialog title={say('console.brand.add_language')} opened={adding} onClose={() => setAdding(false)}>
        <AddLanguage username={username} brand={data} onDone={() => setAdding(false)} />
      </Dialog>
    </AccountPage>
  );
}

function chosen(search: Search, data: ConsoleBrand): string | undefined {
  const { languages } = fieldsOf(data);
  return (languages.find(({ language }) => language === search.language) ?? languages[0])?.language;
}

function State({ brand: { published, draft } }: { brand: ConsoleBrand }) {
  const say = useSay();
  if (draft === null) {
    return (
      <div className={css.row}>
        <StatusBadge status="published" />
        <span className={css.muted}>{say('console.brand.version', { version: published!.version })}</span>
        {published!.default && <Tag>{say('console.default')}</Tag>}
      </div>
    );
  }
  return (
    <>
      {draft.stale && <Notice tone="warning">{say('console.brand.stale')}</Notice>}
      <Notice tone="info">
        {published === null
          ? say('console.brand.never')
          : say('console.brand.drafted', { version: published.version })}{' '}
        <small>
          <bdi>{draft.changed_by}</bdi>, <When at={draft.changed_at} />
        </small>
        <Changes draft={draft} />
      </Notice>
    </>
  );
}

/** What publishing will change. */
function Changes({ draft: { changes } }: { draft: BrandDraft }) {
  const say = useSay();
  const lines = [
    ...(changes.name ? [say('console.brand.change.name')] : []),
    ...(changes.fallback ? [say('console.brand.change.fallback')] : []),
    ...(changes.default === 'becomes' ? [say('console.brand.change.default')] : []),
    ...(changes.default === 'no longer' ? [say('console.brand.change.no_default')] : []),
    ...changes.languages
      .filter(({ change }) => change !== 'unchanged')
      .map((one) =>
        say('console.brand.change.language', {
          ...{ language: one.language, change: one.change, tone: String(one.tone || one.instructions) },
          ...{ added: one.added, changed: one.changed, removed: one.removed },
        }),
      ),
  ];
  if (lines.length === 0) return null;
  return (
    <ul aria-label={say('console.brand.changes')}>
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
  const say = useSay();
  const change = useChange();
  const navigate = useNavigate();
  const [asked, setAsked] = useState<'publish' | 'discard' | 'remove'>();
  const close = () => setAsked(undefined);
  const path = { username, brand: external_id };
  return (
    <>
      {draft === null ? (
        <Button onClick={() => setAsked('remove')}>{say('console.brand.remove')}</Button>
      ) : (
        <>
          <Button onClick={() => setAsked('discard')}>{say('console.brand.discard')}</Button>
          <Button variant="filled" onClick={() => setAsked('publish')}>
            {say('console.brand.publish')}
          </Button>
        </>
      )}
      <ConfirmDialog
        title={say('console.brand.publish')}
        action={say('console.brand.publish')}
        opened={asked === 'publish' && draft !== null}
        onClose={close}
        onConfirm={() =>
          change(
            () => call('publishBrand', { path, body: { revision: draft!.revision, anyway: draft!.stale } }),
            say('console.brand.published'),
          )
        }
      >
        {draft?.stale && <Notice tone="warning">{say('console.brand.stale')}</Notice>}
        <p>{say('console.brand.publish_about', { brand: external_id, username })}</p>
        {draft !== null && <Changes draft={draft} />}
      </ConfirmDialog>
      <ConfirmDialog
        title={say('console.brand.discard')}
        action={say('console.brand.discard')}
        danger
        opened={asked === 'discard'}
        onClose={close}
        onConfirm={async () => {
          if (published === null) await navigate({ to: paths.console.brands(username) });
          await change(() => call('discardBrandDraft', { path }), say('console.brand.discarded'));
        }}
      >
        {say('console.brand.discard_about', { brand: external_id })}
      </ConfirmDialog>
      <ConfirmDialog
        title={say('console.brand.remove')}
        action={say('console.brand.remove')}
        danger
        opened={asked === 'remove'}
        onClose={close}
        onConfirm={async () => {
          await navigate({ to: paths.console.brands(username) });
          await change(() => call('removeBrand', { path }), say('console.brand.removed'));
        }}
      >
        {say('console.brand.remove_about', { brand: external_id })}
      </ConfirmDialog>
    </>
  );
}

function Settings({ username, brand: data }: { username: string; brand: ConsoleBrand }) {
  const say = useSay();
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
                },
              }),
            say('console.brand.saved'),
          )
        }
      >
        <Field name="name" label={say('console.name')} defaultValue={fields.name} />
        <CheckField
          name="default"
          label={say('console.brands.make_default')}
          defaultChecked={fields.default}
        />
        <ChoiceField
          name="fallback"
          label={say('console.brand.fallback')}
          defaultValue={fields.fallback}
          choices={[
            { value: 'wait', label: say('console.brand.fallback.wait') },
            { value: 'machine', label: say('console.brand.fallback.machine') },
          ]}
        />
        <FormActions>
          <SubmitButton secondary>{say('console.brand.save')}</SubmitButton>
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
  const say = useSay();
  const change = useChange();
  const [removing, setRemoving] = useState(false);
  const settings = fieldsOf(data).languages.find((one) => one.language === language)!;
  const path = { username, brand: data.external_id };
  const revision = data.draft?.revision ?? 0;
  return (
    <Section
      title={say('console.brand.language', { language })}
      actions={<Button onClick={() => setRemoving(true)}>{say('console.brand.remove_language')}</Button>}
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
                      [language]: { tone: values.tone || null, instructions: values.instructions || null },
                    },
                  },
                }),
              say('console.brand.saved'),
            )
          }
        >
          <ChoiceField
            name="tone"
            label={say('console.brand.tone')}
            defaultValue={settings.tone ?? ''}
            choices={[
              { value: '', label: say('console.none') },
              { value: 'Formal', label: say('console.tone.formal') },
              { value: 'Informal', label: say('console.tone.informal') },
            ]}
          />
          <TextField
            name="instructions"
            rows={4}
            label={say('console.brand.instructions')}
            description={say('console.brand.instructions_about')}
            defaultValue={settings.instructions ?? ''}
            optional
          />
          <FormActions>
            <SubmitButton secondary>{say('console.brand.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
      <ConfirmDialog
        title={say('console.brand.remove_language')}
        action={say('console.brand.remove_language')}
        danger
        opened={removing}
        onClose={() => setRemoving(false)}
        onConfirm={() =>
          change(() =>
            call('changeBrandDraft', { path, body: { revision, languages: { [language]: null } } }),
          )
        }
      >
        {say('console.brand.remove_language_about', { language, terms: settings.terms })}
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
  const say = useSay();
  const change = useChange();
  const filter = useFilters();
  return (
    <Form
      onSubmit={async (values) => {
        const language = (values.language ?? '').trim().toLowerCase().replaceAll('_', '-');
        if (fieldsOf(data).languages.some((one) => one.language === language)) {
          const fields = { language: say('console.brand.has_language') };
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
      <Field
        name="language"
        label={say('console.brand.shortname')}
        description={say('console.brand.shortname_about')}
        autoFocus
        ltr
      />
      <DialogActions>
        <Button onClick={onDone}>{say('ui.cancel')}</Button>
        <SubmitButton>{say('console.brand.add_language')}</SubmitButton>
      </DialogActions>
    </Form>
  );
}
