/** Asks for the password and then, if the user has a second factor, for a code of this factor. */
import { useState } from 'react';
import { CallError } from './api/client.ts';
import type { SignIn } from './api/generated.ts';
import { useTranslate } from './i18n.tsx';
import { Field, Form, PasswordField, SubmitButton } from './ui/form.tsx';

interface SignInFormProps {
  /** The user who signs in. Undefined to ask for the e-mail address. */
  email?: string;
  /** True when another button is the primary button of the page. */
  secondary?: boolean;
  /** Sends the request. Rejects with a `CallError` when the server refuses it. */
  onSubmit(credentials: SignIn): Promise<unknown>;
}

export function SignInForm({ email, secondary = false, onSubmit }: SignInFormProps) {
  const t = useTranslate();
  const [checked, setChecked] = useState<SignIn>();
  if (checked !== undefined) {
    return (
      <Form key="code" onSubmit={({ code = '' }) => onSubmit({ ...checked, code })}>
        <CodeField />
        <SubmitButton wide>{t('session.sign_in')}</SubmitButton>
      </Form>
    );
  }
  return (
    <Form
      key="password"
      onSubmit={async ({ email: written = '', password = '' }) => {
        const credentials = { email: email ?? written, password };
        try {
          await onSubmit(credentials);
        } catch (error) {
          if (!(error instanceof CallError) || error.code !== 'second_factor_required') throw error;
          setChecked(credentials);
        }
      }}
    >
      {email === undefined && (
        <Field
          name="email"
          type="email"
          label={t('session.email')}
          autoComplete="username"
          autoFocus={!secondary}
          ltr
        />
      )}
      <PasswordField
        name="password"
        label={t('session.password')}
        autoComplete="current-password"
        autoFocus={email !== undefined}
        plain
      />
      <SubmitButton wide secondary={secondary}>
        {t('session.sign_in')}
      </SubmitButton>
    </Form>
  );
}

interface CodeFieldProps {
  autoFocus?: boolean;
  /** True if the field accepts only codes of the authenticator app, and no recovery codes. */
  appOnly?: boolean;
}

/** A field for a code of the authenticator app or a recovery code. */
export function CodeField({ autoFocus = true, appOnly = false }: CodeFieldProps) {
  const t = useTranslate();
  return (
    <Field
      name="code"
      label={t('session.code')}
      description={t(appOnly ? 'session.code.app' : 'session.code.about')}
      autoComplete="one-time-code"
      autoFocus={autoFocus}
      ltr
    />
  );
}
