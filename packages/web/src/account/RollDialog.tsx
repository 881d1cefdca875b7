/** The dialog that replaces an API key or a webhook secret; it asks how long the old one remains valid. */
import { Button } from '@mantine/core';
import { useTranslate } from '../i18n.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { ChoiceField, Form, SubmitButton } from '../ui/form.tsx';

const OVERLAPS = ['24h', '1h', 'now'] as const;
type Overlap = (typeof OVERLAPS)[number];

interface RollProps {
  opened: boolean;
  onClose(): void;
  title: string;
  children: string;
  onRoll(overlap: Overlap): Promise<void>;
}

export function RollDialog({ title, opened, onClose, children, onRoll }: RollProps) {
  const t = useTranslate();
  return (
    <Dialog title={title} opened={opened} onClose={onClose}>
      <p>{children}</p>
      <Form
        onSubmit={async ({ overlap }) => {
          await onRoll(overlap as Overlap);
          onClose();
        }}
      >
        <ChoiceField
          name="overlap"
          label={t('account.overlap')}
          choices={OVERLAPS.map((value) => ({ value, label: t(`account.overlap.${value}`) }))}
        />
        <DialogActions>
          <Button onClick={onClose}>{t('ui.cancel')}</Button>
          <SubmitButton>{t('account.key.roll')}</SubmitButton>
        </DialogActions>
      </Form>
    </Dialog>
  );
}
