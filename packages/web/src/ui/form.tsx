/**
 * Forms. The error of a field is shown at the field, all other errors above the form. The `name` of a field
 * is its name in the request.
 */
import { ActionIcon, Button, Checkbox, NativeSelect, Textarea, TextInput } from '@mantine/core';
import { IconEye, IconEyeOff } from '@tabler/icons-react';
import {
  createContext,
  type FormEvent,
  type KeyboardEvent,
  type ReactNode,
  use,
  useEffect,
  useRef,
  useState,
} from 'react';
import { CallError } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { FailureNotice, useFieldErrors } from './Failure.tsx';
import css from './form.module.css';

export type Values = Record<string, string>;

interface FormState {
  busy: boolean;
  fields: Readonly<Record<string, string>>;
}

const FormContext = createContext<FormState>({ busy: false, fields: {} });

interface FormProps {
  /** Rejects with a `CallError` when the server refuses the request. */
  onSubmit(values: Values): Promise<unknown>;
  /** Returns the message for an error; undefined for the usual message. */
  explain?: (error: CallError) => string | undefined;
  children: ReactNode;
}

export function Form({ onSubmit, explain, children }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error>();
  const fieldsOf = useFieldErrors();
  const fields = error instanceof CallError ? fieldsOf(error) : {};
  const isShownAtField = Object.keys(fields).some((name) => form.current?.elements.namedItem(name) != null);

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
      const message = failed instanceof CallError ? explain?.(failed) : undefined;
      setError(message === undefined ? (failed as Error) : new CallError('explained', message));
    } finally {
      setBusy(false);
    }
  }

  return (
    <FormContext value={{ busy, fields }}>
      <form ref={form} className={css.form} noValidate onSubmit={(event) => void submit(event)}>
        {error !== undefined && !isShownAtField && <FailureNotice error={error} />}
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
  /** True if the field may stay empty. Its label then says that the field is optional. */
  optional?: boolean;
  /** Shows the input left to right in every language: for codes, addresses and numbers. */
  ltr?: boolean;
  /** The language of the input, if it is not the language of the app. */
  lang?: string;
  /** The id of a `datalist` with suggestions. */
  list?: string;
}

interface TypedProps extends FieldProps {
  type?: 'text' | 'email' | 'url' | 'number' | 'date';
  onChange?: (value: string) => void;
}

function useField({ name, label, optional, ltr, ...rest }: FieldProps) {
  const t = useTranslate();
  const { fields } = use(FormContext);
  const error = fields[name];
  return {
    ...rest,
    name,
    label: optional ? t('ui.optional', { label }) : label,
    required: !optional,
    // With this attribute, a dialog moves the focus to this field when it opens. Without it, the close button would
    // get the focus.
    ...(rest.autoFocus ? { 'data-autofocus': true } : {}),
    ...(ltr ? { dir: 'ltr' } : rest.lang ? { dir: 'auto' } : {}),
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

/** A file input; its value is a `File`. */
export function FileField({ accept, ...props }: FieldProps & { accept: string }) {
  const { defaultValue: _, autoComplete: __, dir: ___, ...field } = useField(props);
  return <TextInput type="file" {...field} accept={accept} classNames={{ input: css.file! }} />;
}

/** A field for a password. @param plain true for a field without the button that shows the password */
export function PasswordField({ plain = false, ...props }: FieldProps & { plain?: boolean }) {
  const t = useTranslate();
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
          aria-label={t('ui.show_password')}
          aria-pressed={shown}
          onClick={() => setShown(!shown)}
        >
          <Eye size={16} />
        </ActionIcon>
      }
    />
  );
}

/** A field of several lines. Ctrl+Enter, on a Mac Command+Enter, submits the form. */
export function TextField({ rows = 3, ...props }: FieldProps & { rows?: number }) {
  const press = (event: KeyboardEvent<HTMLTextAreaElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) event.currentTarget.form?.requestSubmit();
  };
  return <Textarea rows={rows} {...useField(props)} onKeyDown={press} />;
}

export interface Choice {
  value: string;
  label: string;
}

/** A native select, which works well on phones. */
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
  /** True when another button is the primary button of the page. */
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

/** A checkbox. Its value is `on` when checked, absent otherwise. */
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

/**
 * A group of checkboxes. The value of a checked box is in the field `NAME.VALUE`; an unchecked box has no field.
 * @param checked the values that are checked at first; all by default
 */
export function ChecksField({
  choices,
  checked = choices.map(({ value }) => value),
  ...props
}: FieldProps & { choices: readonly Choice[]; checked?: readonly string[] }) {
  const { name, label, description, error } = useField(props);
  return (
    <Checkbox.Group
      label={label}
      defaultValue={[...checked]}
      {...(description === undefined ? {} : { description })}
      {...(error === undefined ? {} : { error })}
    >
      {/* Gives the group a name in the form, so that its error is shown here. */}
      <input type="hidden" name={name} />
      <div className={css.checks}>
        {choices.map(({ value, label }) => (
          <Checkbox key={value} name={`${name}.${value}`} value={value} label={label} />
        ))}
      </div>
    </Checkbox.Group>
  );
}

export function FormActions({ children }: { children: ReactNode }) {
  return <div className={css.actions}>{children}</div>;
}
