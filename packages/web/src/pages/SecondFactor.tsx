/** The section of the profile page with which users turn their second factor on and off. */
import { Button } from '@mantine/core';
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, query } from '../api/client.ts';
import type { SecondFactorSecret } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { CodeField } from '../SignInForm.tsx';
import { sessionQuery, useUser } from '../session.ts';
import { CopyBlock, CopyLine } from '../ui/CopyButton.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Form, FormActions, PasswordField, SubmitButton } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { QrCode } from '../ui/QrCode.tsx';
import { toast } from '../ui/Toast.tsx';
import { When } from '../ui/When.tsx';
import css from './SecondFactor.module.css';

export const secondFactor = () => query('readSecondFactor');

export function SecondFactor() {
  const t = useTranslate();
  const queries = useQueryClient();
  const me = useUser()!;
  const { data } = useSuspenseQuery(secondFactor());
  const [secret, setSecret] = useState<SecondFactorSecret>();
  const [codes, setCodes] = useState<string[]>();
  const [dialog, setDialog] = useState<'renew' | 'disable'>();
  async function changed(): Promise<void> {
    await queries.invalidateQueries(secondFactor());
    queries.setQueryData(sessionQuery().queryKey, await call('readMe'));
  }

  function content() {
    if (codes !== undefined) return <RecoveryCodes codes={codes} onDone={() => setCodes(undefined)} />;
    if (secret !== undefined) {
      return (
        <Confirm
          secret={secret}
          onCancel={() => setSecret(undefined)}
          onConfirmed={async (made) => {
            setSecret(undefined);
            setCodes(made);
            await changed();
          }}
        />
      );
    }
    if (data.enabled_at === null) return <Begin onBegun={setSecret} />;
    return (
      <>
        <p>
          {t('factor.on')} <When at={data.enabled_at} />
        </p>
        <p>{t('factor.left', { count: data.recovery_codes })}</p>
        <FormActions>
          <Button onClick={() => setDialog('renew')}>{t('factor.renew')}</Button>
          <Button color="danger" onClick={() => setDialog('disable')}>
            {t('factor.disable')}
          </Button>
        </FormActions>
      </>
    );
  }

  return (
    <Section title={t('factor.title')}>
      {me.second_factor_missing && <Notice tone="warning">{t('factor.missing')}</Notice>}
      <Card>
        <div className={css.steps}>{content()}</div>
      </Card>
      <CodeDialog
        title={t('factor.renew')}
        text={t('factor.renew.text')}
        opened={dialog === 'renew'}
        onClose={() => setDialog(undefined)}
        onSubmit={async (code) => {
          setCodes((await call('renewRecoveryCodes', { body: { code } })).recovery_codes);
          await changed();
        }}
      />
      <CodeDialog
        title={t('factor.disable')}
        text={t('factor.disable.text')}
        danger
        opened={dialog === 'disable'}
        onClose={() => setDialog(undefined)}
        onSubmit={async (code) => {
          await call('disableSecondFactor', { body: { code } });
          await changed();
          toast(t('factor.disabled'));
        }}
      />
    </Section>
  );
}

function Begin({ onBegun }: { onBegun(secret: SecondFactorSecret): void }) {
  const t = useTranslate();
  const [asking, setAsking] = useState(false);
  return (
    <>
      <p>{t('factor.about')}</p>
      {asking ? (
        <Form
          onSubmit={async ({ current_password = '' }) => {
            onBegun(await call('beginSecondFactor', { body: { current_password } }));
          }}
        >
          <PasswordField
            name="current_password"
            label={t('me.password.current')}
            autoComplete="current-password"
            autoFocus
          />
          <FormActions>
            <SubmitButton secondary>{t('factor.next')}</SubmitButton>
          </FormActions>
        </Form>
      ) : (
        <FormActions>
          <Button onClick={() => setAsking(true)}>{t('factor.begin')}</Button>
        </FormActions>
      )}
    </>
  );
}

function Confirm({
  secret: { secret, uri },
  onConfirmed,
  onCancel,
}: {
  secret: SecondFactorSecret;
  onConfirmed(codes: string[]): Promise<void>;
  onCancel(): void;
}) {
  const t = useTranslate();
  return (
    <>
      <p>{t('factor.scan')}</p>
      <QrCode text={uri} label={t('factor.qr')} />
      <p>{t('factor.type')}</p>
      <CopyLine text={secret} what={t('factor.secret')} />
      <Form
        onSubmit={async ({ code = '' }) => {
          await onConfirmed((await call('confirmSecondFactor', { body: { code } })).recovery_codes);
        }}
      >
        <CodeField autoFocus={false} appOnly />
        <FormActions>
          <SubmitButton>{t('factor.confirm')}</SubmitButton>
          <Button onClick={onCancel}>{t('ui.cancel')}</Button>
        </FormActions>
      </Form>
    </>
  );
}

function RecoveryCodes({ codes, onDone }: { codes: string[]; onDone(): void }) {
  const t = useTranslate();
  return (
    <>
      <Notice tone="success">{t('factor.codes.text')}</Notice>
      <CopyBlock text={codes.join('\n')} what={t('factor.codes')} />
      <FormActions>
        <Button onClick={onDone}>{t('factor.codes.saved')}</Button>
      </FormActions>
    </>
  );
}

/** Asks for a code before a change. */
function CodeDialog({
  title,
  text,
  danger = false,
  opened,
  onClose,
  onSubmit,
}: {
  title: string;
  text: string;
  danger?: boolean;
  opened: boolean;
  onClose(): void;
  onSubmit(code: string): Promise<void>;
}) {
  const t = useTranslate();
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <p>{text}</p>
      <Form
        onSubmit={async ({ code = '' }) => {
          await onSubmit(code);
          onClose();
        }}
      >
        <CodeField />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <SubmitButton danger={danger}>{title}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
