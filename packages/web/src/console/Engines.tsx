/** How the engines are: state, speed, failures, and a test of each. */

import { Button } from '@mantine/core';
import { useSuspenseQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useIntl } from 'react-intl';
import { call, query } from '../api/client.ts';
import type { ConsoleEngine, EngineTested } from '../api/generated.ts';
import { useLive } from '../live.ts';
import type { Loading } from '../page.tsx';
import { Chart } from '../ui/Chart.tsx';
import { Dialog, DialogActions } from '../ui/Dialog.tsx';
import { Empty } from '../ui/Empty.tsx';
import { Field, Form, SubmitButton, TextField } from '../ui/form.tsx';
import { Notice } from '../ui/Notice.tsx';
import { Card, Page, Section } from '../ui/Page.tsx';
import { StatusBadge } from '../ui/StatusBadge.tsx';
import { When } from '../ui/When.tsx';
import { useSay } from '../words.tsx';
import css from './console.module.css';
import { Count, Facts, Figures } from './parts.tsx';

const engines = () => query('listEngines');

export const load = ({ queries }: Loading) => queries.ensureQueryData(engines());

export default function Engines() {
  const say = useSay();
  const { data } = useSuspenseQuery(engines());
  useLive('engines', 'listEngines');
  const [testing, setTesting] = useState<string>();
  return (
    <Page title={say('nav.engines')}>
      {data.engines.length === 0 && (
        <Card>
          <Empty>{say('console.engines.empty')}</Empty>
        </Card>
      )}
      {data.engines.map((engine) => (
        <Section
          key={engine.engine}
          title={engine.engine}
          actions={<Button onClick={() => setTesting(engine.engine)}>{say('console.engines.test')}</Button>}
        >
          <Card>
            <Engine engine={engine} at={data.at} />
          </Card>
        </Section>
      ))}
      <Dialog
        title={say('console.engines.test_what', { engine: testing ?? '' })}
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
  const say = useSay();
  const intl = useIntl();
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
  const milliseconds = (value: number) => say('console.milliseconds', { value });
  return (
    <div className={css.engine}>
      <div className={css.row}>
        <StatusBadge status={`engine_${engine.state.replace('-', '_')}`} />
        {engine.since !== null && (
          <span className={css.muted}>
            {say('console.since')} <When at={engine.since} />
          </span>
        )}
      </div>
      <Figures
        figures={[
          [say('console.engines.requests'), <Count key="requests" value={requests} />],
          [
            say('console.engines.error_rate'),
            intl.formatNumber(requests === 0 ? 0 : hour.failed / requests, {
              style: 'percent',
              maximumFractionDigits: 1,
            }),
          ],
          [say('console.engines.mean'), milliseconds(hour.mean)],
          [say('console.engines.slowest'), milliseconds(Math.round(hour.slowest))],
          [say('console.home.waiting'), <Count key="waiting" value={engine.waiting} />],
        ]}
      />
      <Chart
        label={say('console.engines.chart')}
        heads={{
          label: say('console.minute'),
          value: say('console.engines.requests'),
          bad: say('status.failed'),
        }}
        format={(value) => intl.formatNumber(value)}
        bars={bars}
      />
      <Facts
        facts={[
          [
            say('console.engines.version'),
            engine.version === null ? null : <bdi key="version">{engine.version}</bdi>,
          ],
          [say('console.pairs.title'), <Count key="pairs" value={engine.pairs} />],
          [say('console.engines.workers'), <Count key="workers" value={engine.workers} />],
        ]}
      />
      {errors.length > 0 && (
        <div>
          <h3>{say('console.engines.errors')}</h3>
          <ul>
            {errors.slice(0, 5).map(({ at, reason, count }) => (
              <li key={`${at} ${reason}`}>
                <When at={at} />: {reason} ({count})
              </li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

function Test({ engine, onDone }: { engine: string; onDone(): void }) {
  const say = useSay();
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
          <Field name="source_language" label={say('console.source')} defaultValue="en" ltr />
          <Field name="target_language" label={say('console.target')} defaultValue="es" ltr />
        </div>
        <TextField
          name="text"
          label={say('console.engines.sentence')}
          rows={2}
          defaultValue="The house is small."
        />
        <DialogActions>
          <Button onClick={onDone}>{say('ui.close')}</Button>
          <SubmitButton>{say('console.engines.run')}</SubmitButton>
        </DialogActions>
      </Form>
      {tested !== undefined && (
        <Notice tone={tested.status === 'translated' ? 'success' : 'danger'}>
          {tested.status === 'translated' ? (
            <bdi>{tested.text}</bdi>
          ) : (
            say('console.engines.test_failed', { reason: tested.reason ?? tested.status })
          )}{' '}
          <small>
            {say('console.milliseconds', { value: tested.milliseconds })} {tested.route}
          </small>
        </Notice>
      )}
    </>
  );
}
