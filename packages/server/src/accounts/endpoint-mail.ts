/**
 * Mails to the owners of an account about its webhook endpoints. A mail does not name the endpoint, because its address
 * may contain secrets, and may be words that any user of the account chose.
 */
import { listTeam } from '../access/people.ts';
import type { AccountRef, Environment } from '../base/account.ts';
import type { Database } from '../database/database.ts';
import type { Mailer } from './mail.ts';

export interface EndpointMailOptions {
  mailer: Mailer;
  /** Returns the public address of the server. */
  root(): string;
}

/**
 * Tells the owners that an endpoint was disabled because its deliveries failed. A mail that cannot be sent is not sent
 * again, because the pages of the account show it too.
 */
export async function mailFailedEndpoint(
  database: Database,
  { mailer, root }: EndpointMailOptions,
  account: AccountRef,
  environment: Environment,
): Promise<void> {
  const team = await listTeam(database, account);
  for (const { email, name } of team.filter(({ owner, status }) => owner && status === 'active')) {
    await mailer.send({
      to: email,
      subject: 'A webhook endpoint was disabled',
      text: `Hello ${name},\n\nnone of the last deliveries to a webhook endpoint of your account (${environment}) arrived, so it was disabled. It gets no further events. When its receiver works again, test and enable the endpoint:\n\n${root()}/app/account/access\n\nThe events in between are in the event feed.\n`,
    });
  }
}
