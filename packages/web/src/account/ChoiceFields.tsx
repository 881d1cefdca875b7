/** The fields for the choices that apply to all documents: languages, tier, brand, tone, instructions, formats and mail. */
import { Checkbox, NativeSelect, Textarea } from '@mantine/core';
import type { DocumentOptions, OwnBrand } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLanguageName } from '../ui/Pair.tsx';
import type { Choices } from './choices.ts';
import type { LocalDocument } from './document-list.ts';
import css from './Translate.module.css';

/**
 * Returns the target languages of a source language. If `source` is empty because it will be detected, returns those of
 * all source languages.
 */
function offeredTargets({ languages }: DocumentOptions, source: string): string[] {
  const of = languages.filter((one) => source === '' || one.source_language === source);
  return [...new Set(of.flatMap((one) => one.target_languages))];
}

/** Returns the chosen target languages that are offered for the chosen source language. */
export function targetsFor(options: DocumentOptions, { source, targets }: Choices): string[] {
  return offeredTargets(options, source).filter((one) => targets.includes(one));
}

/**
 * Returns the choices with the first option for each choice that is no longer offered. The browser may have stored
 * a brand, a language or a tone that was removed since.
 */
export function offeredChoices(
  { languages, tones, mails }: DocumentOptions,
  brands: readonly OwnBrand[],
  { source, brand, tone, mail, ...choices }: Choices,
): Choices {
  return {
    ...choices,
    source: languages.some((one) => one.source_language === source) ? source : '',
    brand: brands.some((one) => one.external_id === brand) ? brand : '',
    tone: tones.includes(tone) ? tone : '',
    mail: mail && mails && choices.tier === 'human',
  };
}

interface ChoiceFieldsProps {
  options: DocumentOptions;
  brands: readonly OwnBrand[];
  /** The formats of the documents. A choice that only concerns another format is not shown. */
  formats: ReadonlySet<LocalDocument['format']>;
  choices: Choices;
  onChange(change: Partial<Choices>): void;
}

export function ChoiceFields({ options, brands, formats, choices, onChange }: ChoiceFieldsProps) {
  const t = useTranslate();
  const nameOf = useLanguageName();
  const byName = (codes: readonly string[]) =>
    codes
      .map((value) => ({ value, label: nameOf(value) }))
      .sort((one, other) => one.label.localeCompare(other.label));
  const switches = [
    ['retranslate', formats.has('xliff')],
    ['set_lang', formats.has('html')],
    ['mail', options.mails && choices.tier === 'human'],
  ] as const;
  const standard = brands.find((one) => one.default);
  return (
    <div className={css.choices}>
      <NativeSelect
        label={t('account.translate.source')}
        value={choices.source}
        data={[
          { value: '', label: t('account.translate.detect') },
          ...byName(options.languages.map((one) => one.source_language)),
        ]}
        onChange={(event) => onChange({ source: event.currentTarget.value })}
      />
      <NativeSelect
        label={t('account.tier')}
        description={t(`account.translate.tier.${choices.tier}`)}
        inputWrapperOrder={['label', 'input', 'description']}
        value={choices.tier}
        data={(['human', 'machine'] as const).map((value) => ({ value, label: t(`account.tier.${value}`) }))}
        onChange={(event) => onChange({ tier: event.currentTarget.value as Choices['tier'] })}
      />
      {brands.length > 0 && (
        <NativeSelect
          label={t('account.brand')}
          value={choices.brand}
          data={[
            {
              value: '',
              label:
                standard === undefined
                  ? t('account.translate.no_brand')
                  : t('account.translate.default_brand', { name: standard.name }),
            },
            ...brands
              .filter((one) => !one.default)
              .map(({ external_id, name }) => ({ value: external_id, label: name })),
          ]}
          onChange={(event) => onChange({ brand: event.currentTarget.value })}
        />
      )}
      <NativeSelect
        label={t('account.tone')}
        value={choices.tone}
        data={[
          { value: '', label: t(brands.length > 0 ? 'account.translate.any_tone' : 'account.any') },
          ...options.tones.map((value) => ({ value, label: t('tone', { tone: value }) })),
        ]}
        onChange={(event) => onChange({ tone: event.currentTarget.value })}
      />
      <Checkbox.Group
        className={css.whole!}
        label={t('account.translate.targets')}
        value={[...choices.targets]}
        onChange={(targets) => onChange({ targets })}
      >
        <div className={css.targets}>
          {byName(offeredTargets(options, choices.source)).map(({ value, label }) => (
            <Checkbox key={value} value={value} label={label} />
          ))}
        </div>
      </Checkbox.Group>
      <Textarea
        className={css.whole!}
        label={t('ui.optional', { label: t('account.translate.instructions') })}
        description={t('account.translate.instructions.help')}
        rows={2}
        maxLength={10_000}
        dir="auto"
        value={choices.instructions}
        onChange={(event) => onChange({ instructions: event.currentTarget.value })}
      />
      {switches.map(
        ([name, isShown]) =>
          isShown && (
            <Checkbox
              key={name}
              className={css.whole!}
              label={t(`account.translate.${name}`)}
              checked={choices[name]}
              onChange={(event) => onChange({ [name]: event.currentTarget.checked })}
            />
          ),
      )}
    </div>
  );
}
