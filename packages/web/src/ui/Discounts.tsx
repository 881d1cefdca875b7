import type { Discount, EditedWords } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import css from './Discounts.module.css';
import { Money } from './Money.tsx';

/** Shows the words that cost only a share of their price, one line for each kind of match. */
export function Discounts({ discounts }: { discounts: readonly Discount[] }) {
  const t = useTranslate();
  return discounts.map(({ kind, words, share }) => (
    <div key={kind} className={css.discount}>
      {t(`discount.${kind}`, { words, share: share / 100 })}
    </div>
  ));
}

/** Shows a price in US cents with its discounts. */
export function DiscountedPrice({
  of,
}: {
  of: { price: number; discounts: readonly Discount[]; counted?: number | undefined };
}) {
  const t = useTranslate();
  return (
    <>
      <Money cents={of.price} />
      <Discounts discounts={of.discounts} />
      {of.counted !== undefined && (
        <div className={css.discount}>{t('discount.counted', { counted: of.counted })}</div>
      )}
    </>
  );
}

/** Shows how many words of a job editors confirmed, and how many were taken from other jobs. */
export function EditedWordCounts({ of }: { of: EditedWords | null }) {
  const t = useTranslate();
  return (
    of !== null && (
      <div className={css.discount}>{t('job.words.edited', { opened: of.opened, voted: of.voted })}</div>
    )
  );
}
