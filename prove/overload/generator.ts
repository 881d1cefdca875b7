// A process that creates machine jobs. With a rate, it sends requests at this rate without waiting for responses. With
// rate 0, each connection sends its next request as soon as it has received a response (a closed loop). It prints one
// line of JSON. Arguments: URL KEY SECONDS RATE CONNECTIONS.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Answered {
  /**
   * `at`: the time at which the request was due, in milliseconds from the start of the run. `milliseconds`:
   * from that time to the end of the response.
   */
  at: number;
  milliseconds: number;
  /** The HTTP status, or 0 for a connection that broke. */
  status: number;
  retryAfter: boolean;
  uid: string;
}

/** A connection for one request at a time. */
interface Connection {
  /**
   * Resolves when the connection is open.
   *
   * @throws Error when the server does not listen
   */
  opened(): Promise<void>;
  request(uid: string): Promise<Pick<Answered, 'status' | 'retryAfter'>>;
  close(): void;
}

const TICK_MILLISECONDS = 5;
const HEAD_END = '\r\n\r\n';

/**
 * Opens a connection and speaks HTTP without a library. An HTTP client took most of one of the two cores that the
 * generator shares with the service.
 */
function openConnection(host: string, port: number, key: string): Connection {
  let socket: Socket | undefined;
  let got = '';
  let answered: ((answer: Pick<Answered, 'status' | 'retryAfter'>) => void) | undefined;
  const answer = (status: number, retryAfter: boolean) => {
    got = '';
    const resolve = answered;
    answered = undefined;
    resolve?.({ status, retryAfter });
  };
  const broke = (broken: Socket) => {
    if (broken !== socket) return;
    socket = undefined;
    answer(0, false);
  };
  const read = (text: string) => {
    got += text;
    const end = got.indexOf(HEAD_END);
    if (end < 0) return;
    const head = got.slice(0, end).toLowerCase();
    const length = Number(/\r\ncontent-length: (\d+)/.exec(head)?.[1] ?? 0);
    if (got.length < end + HEAD_END.length + length) return;
    answer(Number(head.slice(9, 12)), head.includes('\r\nretry-after:'));
  };
  const open = () => {
    const opened = connect(port, host).setNoDelay().setEncoding('latin1');
    opened.on('data', read);
    opened.on('error', () => broke(opened));
    opened.on('close', () => broke(opened));
    return opened;
  };
  return {
    async opened() {
      socket ??= open();
      await once(socket, 'connect');
    },
    request: (uid) =>
      new Promise((resolve) => {
        answered = resolve;
        socket ??= open();
        const body = `{"uid":"${uid}","text":"The house is big.","source_language":"en","target_language":"es"}`;
        socket.write(
          `POST /tapi/v2/mt_translation/ HTTP/1.1\r\nhost: ${host}\r\nauthorization: ApiKey ${key}\r\n` +
            `content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
        );
      }),
    close: () => socket?.destroy(),
  };
}

if (import.meta.main) {
  const [url, key, seconds, rate, connections] = process.argv.slice(2) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const { hostname, port } = new URL(url);
  const all = Array.from({ length: Number(connections) }, () => openConnection(hostname, Number(port), key));
  // Connections are opened one after another. Two thousand at the same moment would test how the server
  // accepts connections.
  for (const connection of all) await connection.opened();
  const answers: Answered[] = [];
  const begun = performance.now();
  const end = begun + Number(seconds) * 1000;
  let count = 0;
  const create = async (connection: Connection, due: number) => {
    const uid = `load-${process.pid}-${++count}`;
    const answer = await connection.request(uid);
    answers.push({ ...answer, uid, at: due - begun, milliseconds: performance.now() - due });
  };
  if (Number(rate) === 0) {
    const loop = async (connection: Connection) => {
      while (performance.now() < end) await create(connection, performance.now());
    };
    await Promise.all(all.map(loop));
  } else {
    const gap = 1000 / Number(rate);
    const free = [...all];
    /** The due times of requests that wait for a free connection. */
    const late: number[] = [];
    const pending: Promise<void>[] = [];
    const send = async (connection: Connection, due: number) => {
      await create(connection, due);
      for (let next = late.shift(); next !== undefined; next = late.shift()) await create(connection, next);
      free.push(connection);
    };
    for (let due = begun; due < end; ) {
      for (; due < performance.now(); due += gap) {
        // The connection that has been free longest is used next, so that all connections are used.
        const connection = free.shift();
        if (connection === undefined) late.push(due);
        else pending.push(send(connection, due));
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MILLISECONDS));
    }
    await Promise.all(pending);
  }
  for (const connection of all) connection.close();
  process.stdout.write(JSON.stringify(answers));
}
