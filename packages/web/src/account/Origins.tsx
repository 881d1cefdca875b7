/** The web pages that may call the API of the account from a browser. */
import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query';
import { call, query } from '../api/client.ts';
import { useTranslate } from '../i18n.tsx';
import { Form, FormActions, SubmitButton, TextField } from '../ui/form.tsx';
import { Card, Section } from '../ui/Page.tsx';
import { toast } from '../ui/Toast.tsx';
import css from './account.module.css';

export const originsQuery = () => query('listOwnOrigins');

export function Origins() {
  const t = useTranslate();
  const queries = useQueryClient();
  const { data } = useSuspenseQuery(originsQuery());

  async function save(written: string): Promise<void> {
    const origins = written.split(/\s/).filter((line) => line !== '');
    await call('setOwnOrigins', { body: { origins } });
    await queries.invalidateQueries(originsQuery());
    toast(t('account.origins.saved'));
  }

  return (
    <Section title={t('account.origins')}>
      <p className={css.muted}>{t('account.origins.lead')}</p>
      <Card>
        <Form key={data.origins.join()} onSubmit={({ origins = '' }) => save(origins)}>
          <TextField
            name="origins"
            label={t('account.origins.list')}
            description={t('account.origins.help')}
            defaultValue={data.origins.join('\n')}
            optional
            ltr
          />
          <FormActions>
            <SubmitButton secondary>{t('ui.save')}</SubmitButton>
          </FormActions>
        </Form>
      </Card>
    </Section>
  );
}
