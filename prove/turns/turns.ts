/**
 * `npm run prove -- turns` sends the longest texts to each door of the service, and measures the longest turn of its event
 * loop, in which it serves nobody else. Flags: `--n N` (texts for each door, default 10), `--seed N`.
 */
import { type Figure, type Flags, goalAtMost, goalZero, type Report } from '../../bench/figures.ts';
import { runProof } from '../harness/run.ts';
import { LONGEST_TURN, runTurns, type TurnsHistory } from './run.ts';

export async function proveTurns(flags: Flags): Promise<Report> {
  return runProof('turns', flags, async (options) => {
    const history = await runTurns({ ...options, count: flags.numbers.n ?? 10 });
    for (const { door, atom, milliseconds } of history.turns.filter((one) => one.milliseconds > LONGEST_TURN))
      options.say(`${door}, ${atom}: ${Math.round(milliseconds)} ms`);
    return judge(history);
  });
}

export function judge({ doors, shut, turns, planted }: TurnsHistory): Figure[] {
  const longest = Math.max(0, ...turns.map(({ milliseconds }) => milliseconds));
  return [
    { name: 'turns, texts', value: turns.length, unit: `to ${doors} doors` },
    goalAtMost(
      'turns, longest turn of the event loop',
      turns.length === 0 ? Number.POSITIVE_INFINITY : longest,
      LONGEST_TURN,
      ' ms',
      0,
    ),
    goalZero('turns, doors that took no text', shut.length, turns.length > 0),
    goalZero(
      'turns, answers that are a fault of the server',
      turns.filter(({ status }) => status >= 500).length,
      turns.length > 0,
    ),
    {
      name: 'turns, a planted turn of 600 ms was measured',
      value: planted > LONGEST_TURN ? 'yes' : 'no',
      goal: 'yes',
      held: planted > LONGEST_TURN,
    },
  ];
}
