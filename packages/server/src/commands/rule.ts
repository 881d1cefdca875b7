/** The command `dragoman rule`: lists sources that editors translate differently, and makes and ends rules. */
import { InvalidArgumentError, Option } from 'commander';
import { accountNamed } from '../access/accounts.ts';
import type { AccountRef } from '../base/account.ts';
import { ApiError, notFound } from '../base/errors.ts';
import { isId } from '../base/ids.ts';
import type { Database } from '../database/database.ts';
import { endRule, listDisagreements, makeRule } from '../editing/votes/rules.ts';
import { type Command, withStore } from './options.ts';
import { CommandError, print, printJson, printTable, say } from './output.ts';

interface Common {
  data?: string;
  json?: boolean;
}

interface MakeOptions extends Common {
  replaces?: string;
}

const MOST = 200;

export function addRuleCommands(program: Command): void {
  const rule = program
    .command('rule')
    .description('list sources that editors translate differently, and make one text the rule');
  rule
    .command('list')
    .description(`list disagreements and rules, latest first, at most ${MOST}`)
    .argument('<account>', 'the username')
    .addOption(
      new Option('--before <id>', 'show the next page: the id that the page before printed').argParser(
        pageId,
      ),
    )
    .onStore()
    .action((username: string, options: Common & { before?: string }) =>
      withStore(options, async ({ database }) => {
        const { ref } = await accountNamed(database, username);
        const page = { before: options.before, limit: MOST };
        const { disagreements, next } = await listDisagreements(database, ref, page);
        if (options.json) return printJson({ disagreements, next });
        printTable(
          [
            'disagreement',
            'vote',
            'hash',
            'pair',
            'brand',
            'tone',
            'place',
            'editors',
            'state',
            'source',
            'target',
          ],
          disagreements.flatMap(({ texts, ...one }) =>
            texts.map((text) => [
              one.disagreement,
              text.vote,
              text.hash,
              `${one.source_language}>${one.target_language}`,
              one.brand ?? '',
              one.tone ?? '',
              one.context,
              String(text.editors),
              text.rule ? 'rule' : '',
              one.source,
              text.target,
            ]),
          ),
          next === null
            ? 'There are no disagreements or rules.'
            : 'There are no disagreements or rules on this page.',
        );
        if (next !== null) say(`There are more. Continue with --before ${next}.`);
      }),
    );
  rule
    .command('make')
    .description('make the text of a vote the rule')
    .argument('<account>', 'the username')
    .argument('<disagreement>', 'the id of the disagreement, as in rule list')
    .argument('<vote>', 'the id of the vote, as in rule list')
    .argument('<hash>', 'the hash of the text, as in rule list')
    .option('--replaces <hash>', 'the hash of the rule that it replaces, as in rule list')
    .onStore()
    .action((username: string, id: string, vote: string, hash: string, options: MakeOptions) =>
      change(username, options, [id, vote], async (database, account) => {
        const rule = options.replaces ?? null;
        await makeRule(database, 'command', account, id, { vote, hash, rule });
        return options.json ? printJson({ disagreement: id, vote }) : print('The text is the rule.');
      }),
    );
  rule
    .command('end')
    .description('end a rule, so that votes count again')
    .argument('<account>', 'the username')
    .argument('<disagreement>', 'the id of the disagreement, as in rule list')
    .argument('<hash>', 'the hash of the rule, as in rule list')
    .onStore()
    .action((username: string, id: string, hash: string, options: Common) =>
      change(username, options, [id], async (database, account) => {
        await endRule(database, 'command', account, id, hash);
        return options.json ? printJson({ disagreement: id, vote: null }) : print('The rule has ended.');
      }),
    );
}

function pageId(written: string): string {
  if (!isId(written)) throw new InvalidArgumentError('It must be the id of a disagreement.');
  return written;
}

/** Runs a change of a rule, if `ids` can be ids. A refusal becomes the error of the command. */
function change(
  username: string,
  options: Common,
  ids: readonly string[],
  work: (database: Database, account: AccountRef) => Promise<void>,
): Promise<void> {
  return withStore(options, async ({ database }) => {
    const { ref } = await accountNamed(database, username);
    try {
      if (!ids.every(isId)) throw notFound();
      await work(database, ref);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const isMissing = error.code === 'not_found';
      throw new CommandError(isMissing ? `${username} has no such disagreement or vote.` : error.message);
    }
  });
}
