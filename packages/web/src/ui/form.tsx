/**
 * Forms. What is wrong with a field stands at the field, in its reader's language; anything else above the buttons. A
 * field is known by its `name`, the same as in the request.
 */
import { ActionIcon, Button, Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import { createContext, type FormEvent, type ReactNode, use, useEffect, useRef, useState } from 'react';
import { CallError } from '../api/client.ts';
import { useSay } from '../words.tsx';
import { FailureNotice, useFields } from './Failure.tsx';
import css from './form.module.css';

export type Values = Record<string, string>;

interface FormState {
  busy: boolean;
  fields: Readonly<Record<string, string>>;
}

const FormContext = createContext<FormState>({ busy: false, fields: {} });

interface FormProps {
  /** Throws a CallError for what is refused. */
  onSubmit(values: Values): Promise<unknown>;
  /** A sentence instead of that of the server, for some codes. */
  explain?: (error: CallError) => string | undefined;
  children: ReactNode;
}

export function Form({ onSubmit, explain, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const fieldsOf = useFields();
  const fields = error instanceof CallError ? fieldsOf(error) : {};
  const shown = Object.keys(fields).some((name) => form.current?.elements.namedItem(name) != null);

  useEffect(() => {
    if (error === undefined) return;
    form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus();
  }, [error]);

  async function submit(event: FormEvent<HTMLFormElement>): Promise<void> {
    event.preventDefault();
    if (busy) return;
    const values = Object.fromEntries(new FormData(event.currentTarget)) as Values;
    setBusy(true);
    setError(undefined);
    try {
      await onSubmit(values);
    } catch (failed) {
      const said = failed instanceof CallError ? explain?.(failed) : undefined;
      setError(said === undefined ? (failed as Error) : new CallError('explained', said));
    } finally {
      setBusy(false);
    }
  }

  return (
    <FormContext value={{ busy, fields }}>
      <form ref={form} className={css.form} noValidate onSubmit={(event) => void submit(event)}>
        {error !== undefined && !shown && <FailureNotice error={error} />}
        {children}
      </form>
    </FormContext>
  );
}

interface FieldProps {
  name: string;
  label: string;
  description?: ReactNode;
  defaultValue?: string;
  autoComplete?: string;
  autoFocus?: boolean;
  /** May stay empty: said beside the label. */
  optional?: boolean;
  /** A code, an address, a number: written from left to right in any language. */
  ltr?: boolean;
}

interface TypedProps extends FieldProps {
  type?: 'text' | 'email' | 'url' | 'number' | 'date';
  /** Told of each change, where something else depends on it. */
  onChange?: (value: string) => void;
}

function useField({ name, label, optional, ltr, ...rest }: FieldProps) {
  const say = useSay();
  const { fields } = use(FormContext);
  const error = fields[name];
  return {
    ...rest,
    name,
    label: optional ? say('ui.optional', { label }) : label,
    required: !optional,
    ...(ltr ? { dir: 'ltr' } : {}),
    ...(error === undefined ? {} : { error }),
  };
}

export function Field({ type = 'text', onChange, ...props }: TypedProps) {
  return (
    <TextInput
      type={type}
      spellCheck={type === 'text'}
      {...useField(props)}
      onChange={(event) => onChange?.(event.currentTarget.value)}
    />
  );
}

/** A file from the reader's machine; among the values it is a `File`. The browser's own button: it is known. */
export function FileField({ accept, ...props }: FieldProps & { accept: string }) {
  const { defaultValue: _, autoComplete: __, dir: ___, ...field } = useField(props);
  return <TextInput type="file" {...field} accept={accept} classNames={{ input: css.file! }} />;
}

/** @param plain without the button that shows what was typed */
export function PasswordField({ plain = false, ...props }: FieldProps & { plain?: boolean }) {
  const say = useSay();
  const [shown, setShown] = useState(false);
  const field = useField({ ltr: true, ...props });
  if (plain) return <TextInput type="password" {...field} />;
  const Eye = shown ? IconEyeOff : IconEye;
  return (
    <TextInput
      type={shown ? 'text' : 'password'}
      {...field}
      rightSection={
        <ActionIcon
          size={28}
          aria-label={say('ui.show_password')}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          <Eye size={16} />
        </ActionIcon>
      }
    />
  );
}

export function TextField({ rows = 3, ...props }: FieldProps & { rows?: number }) {
  return <Textarea rows={rows} {...useField(props)} />;
}

export interface Choice {
  value: string;
  label: string;
}

/** One of a few. The browser's own list: it is known, and it is right on a phone. */
export function ChoiceField({
  choices,
  onChange,
  ...props
}: FieldProps & { choices: readonly Choice[]; onChange?: (value: string) => void }) {
  return (
    <NativeSelect
      data={[...choices]}
      {...useField(props)}
      onChange={(event) => onChange?.(event.currentTarget.value)}
    />
  );
}

export function SubmitButton({
  children,
  danger = false,
  wide = false,
  secondary = false,
  disabled = false,
}: {
  children: string;
  danger?: boolean;
  wide?: boolean;
  /** Another button of the page is the primary one. */
  secondary?: boolean;
  disabled?: boolean;
}) {
  const { busy } = use(FormContext);
  return (
    <Button
      type="submit"
      variant={secondary ? 'default' : 'filled'}
      fullWidth={wide}
      loading={busy}
      disabled={disabled}
      {...(danger ? { color: 'danger' } : {})}
    >
      {children}
    </Button>
  );
}

/** Yes or no; yes is `on` among the values, no is not there. */
export function CheckField(props: FieldProps & { defaultChecked?: boolean }) {
  const { defaultChecked = false, ...rest } = props;
  const {
    required: _,
    defaultValue: __,
    autoFocus: ___,
    autoComplete: ____,
    dir: _____,
    ...field
  } = useField(rest);
  return <Checkbox defaultChecked={defaultChecked} {...field} />;
}

export function FormActions({ children }: { children: ReactNode }) {
  return <div className={css.actions}>{children}</div>;
}
