/** The command `dragoman vote`: lists the votes of editors for a customer's texts, and undoes them. */
import { accountNamed } from '../access/accounts.ts';
import { isId } from '../base/ids.ts';
import { counted } from '../base/text.ts';
import { findVotes, undoVote } from '../editing/votes/undo-votes.ts';
import { type Command, withStore } from './options.ts';
import { CommandError, print, printJson, printTable } from './output.ts';

interface Common {
  data?: string;
  json?: boolean;
}

const MOST = 200;

export function addVoteCommands(program: Command): void {
  const vote = program.command('vote').description('list and undo the votes of editors for a customer');
  vote
    .command('list')
    .description(`list votes whose text segments of other jobs hold, latest first; at most ${MOST}`)
    .argument('<account>', 'the username')
    .option('--all', 'also votes that filled no segment of another job', false)
    .onStore()
    .action((username: string, options: Common & { all: boolean }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const votes = await findVotes(database, ref, { filling: !options.all, limit: MOST });
        if (options.json) return printJson({ votes });
        printTable(
          ['vote', 'pair', 'segments', 'state', 'editor', 'source', 'target'],
          votes.map((one) => [
            one.vote,
            `${one.source_language}>${one.target_language}`,
            String(one.segments),
            one.withdrawn_at === null ? 'counts' : 'withdrawn',
            one.editor,
            one.source,
            one.target,
          ]),
          'There are no such votes.',
        );
      }),
    );
  vote
    .command('undo')
    .description('withdraw a vote, restore the drafts of untouched segments, and list the others')
    .argument('<account>', 'the username')
    .argument('<vote>', 'the id of the vote, as in vote list')
    .onStore()
    .action((username: string, id: string, options: Common) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const undone = isId(id) ? await undoVote(database, 'command', ref, id) : undefined;
        if (undone === undefined) throw new CommandError(`${username} has no vote ${id}.`);
        if (options.json) return printJson({ vote: id, ...undone });
        const { restored, kept } = undone;
        print(`${counted(restored, 'segment has', 'segments have')} the former draft again.`);
        printTable(
          ['job', 'segment', 'kept because it is'],
          kept.map(({ uid, position, why }) => [uid, String(position), why]),
          'No other segment keeps the text.',
        );
      }),
    );
}
