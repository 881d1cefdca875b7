/** The engines: state, speed, failures and a test. */
import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { call, query } from '../api/client.ts';
import type { ConsoleEngine, EngineTested } from '../api/generated.ts';
import { useTranslate } from '../i18n.tsx';
import { useLiveUpdates } from '../live-updates.ts';
import type { Loading } from '../page.tsx';
import { paths } from '../paths.ts';
import { Chart } from '../ui/Chart.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { useEngineFailure } from '../ui/engine-failure.ts';
import { Form, SubmitButton, TextField } from '../ui/form.tsx';
import { ButtonLink } from '../ui/Link.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import css from './console.module.css';
import { LanguageField } from './pickers.tsx';
import { Count, Facts, Figures } from './shared.tsx';

const engines = () => query('listEngines');

export const load = ({ queries }: Loading) => queries.ensureQueryData(engines());

export default function Engines() {
  const t = useTranslate();
  const { data } = useSuspenseQuery(engines());
  useLiveUpdates('engines', 'listEngines');
  const [testing, setTesting] = useState<string>();
  return (
    <Page
      title={t('nav.engines')}
      actions={<ButtonLink to={paths.console.compare}>{t('console.compare.title')}</ButtonLink>}
    >
      {data.engines.length === 0 && (
        <Card>
          <Empty>{t('console.engines.empty')}</Empty>
        </Card>
      )}
      {data.engines.map((engine) => (
        <Section
          key={engine.engine}
          title={engine.engine}
          actions={<Button onClick={() => setTesting(engine.engine)}>{t('console.engines.test')}</Button>}
        >
          <Card>
            <Engine engine={engine} at={data.at} />
          </Card>
        </Section>
      ))}
      <Dialog
        title={t('console.engines.test_what', { engine: testing ?? '' })}
        opened={testing !== undefined}
        onClose={() => setTesting(undefined)}
      >
        {testing !== undefined && <Test engine={testing} onDone={() => setTesting(undefined)} />}
      </Dialog>
    </Page>
  );
}

const MINUTES = 60;
const MINUTE_MILLISECONDS = 60_000;

function Engine({ engine, at }: { engine: ConsoleEngine; at: string }) {
  const t = useTranslate();
  const intl = useIntl();
  const failureOf = useEngineFailure();
  const { last_hour: hour, minutes, errors } = engine;
  const requests = hour.answered + hour.failed;
  const found = new Map(minutes.map((one) => [one.minute, one]));
  const last = Math.floor(Date.parse(at) / MINUTE_MILLISECONDS);
  const bars = Array.from({ length: MINUTES }, (_, index) => {
    const minute = new Date((last - MINUTES + 1 + index) * MINUTE_MILLISECONDS).toISOString();
    const { answered = 0, failed = 0 } = found.get(minute) ?? {};
    const label = intl.formatTime(minute, { hour: 'numeric', minute: '2-digit' });
    return { label, value: answered + failed, bad: failed };
  });
  const milliseconds = (value: number) => t('console.milliseconds', { value });
  return (
    <div className={css.engine}>
      <div className={css.row}>
        <StatusBadge status={`engine_${engine.state.replace('-', '_')}`} />
        {engine.since !== null && (
          <span className={css.muted}>
            {t('console.since')} <When at={engine.since} />
          </span>
        )}
      </div>
      <Figures
        figures={[
          [t('console.engines.requests'), <Count key="requests" value={requests} />],
          [
            t('console.engines.failed_segments'),
            hour.segments === 0
              ? '–'
              : t('console.engines.failed_share', {
                  failed: hour.failed_segments,
                  all: hour.segments,
                  share: intl.formatNumber(hour.failed_segments / hour.segments, {
                    style: 'percent',
                    maximumFractionDigits: 1,
                  }),
                }),
          ],
          [t('console.engines.mean'), requests === 0 ? '–' : milliseconds(hour.mean)],
          [t('console.engines.slowest'), requests === 0 ? '–' : milliseconds(Math.round(hour.slowest))],
          [t('console.home.waiting'), <Count key="waiting" value={engine.waiting} />],
        ]}
      />
      <Chart
        label={t('console.engines.chart')}
        heads={{
          label: t('console.minute'),
          value: t('console.engines.requests'),
          bad: t('status.failed'),
        }}
        format={(value) => intl.formatNumber(value)}
        bars={bars}
      />
      <Facts
        facts={[
          [
            t('console.engines.version'),
            engine.version === null ? null : <bdi key="version">{engine.version}</bdi>,
          ],
          [t('console.pairs.title'), <Count key="pairs" value={engine.pairs} />],
          [t('console.engines.workers'), <Count key="workers" value={engine.workers} />],
        ]}
      />
      {errors.length > 0 && (
        <div>
          <h3>{t('console.engines.errors')}</h3>
          <ul>
            {errors.slice(0, 5).map(({ at, reason, count }) => (
              <li key={`${at} ${reason}`}>
                <When at={at} />: {failureOf(reason)} ({intl.formatNumber(count)})
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Test({ engine, onDone }: { engine: string; onDone(): void }) {
  const t = useTranslate();
  const failureOf = useEngineFailure();
  const [tested, setTested] = useState<EngineTested>();
  return (
    <>
      <Form
        onSubmit={async (values) => {
          setTested(undefined);
          const body = {
            source_language: values.source_language ?? '',
            target_language: values.target_language ?? '',
            text: values.text ?? '',
          };
          setTested(await call('testEngine', { path: { engine }, body }));
        }}
      >
        <div className={css.inline}>
          <LanguageField name="source_language" label={t('console.source')} defaultValue="en" />
          <LanguageField name="target_language" label={t('console.target')} defaultValue="es" />
        </div>
        <TextField
          name="text"
          label={t('console.engines.sentence')}
          rows={2}
          defaultValue="The house is small."
        />
        <DialogActions>
          <Button onClick={onDone}>{t('ui.close')}</Button>
          <SubmitButton>{t('console.engines.run')}</SubmitButton>
        </DialogActions>
      </Form>
      {tested !== undefined && (
        <Notice tone={tested.status === 'translated' ? 'success' : 'danger'}>
          {tested.status === 'translated' ? (
            <bdi>{tested.text}</bdi>
          ) : (
            t('console.engines.test_failed', { reason: failureOf(tested.reason ?? tested.status) })
          )}{' '}
          <small>
            {t('console.milliseconds', { value: tested.milliseconds })} {tested.route}
          </small>
        </Notice>
      )}
    </>
  );
}
