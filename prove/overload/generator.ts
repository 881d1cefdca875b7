// A process of its own that creates machine jobs: at a fixed rate whatever is answered, or as fast as `connections`
// closed loops can. Prints one line of JSON. Arguments: URL KEY SECONDS RATE CONNECTIONS (a rate of 0: closed loops).
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

export interface Answered {
  /** Milliseconds since the run began, and from the moment when the request was due to the end of its answer. */
  at: number;
  milliseconds: number;
  /** 0 for a connection that broke. */
  status: number;
  retryAfter: boolean;
  uid: string;
}

/** A connection that one request at a time goes over. */
interface Line {
  /** Resolves when it is open. @throws Error when nobody listens */
  opened(): Promise<void>;
  ask(uid: string): Promise<Pick<Answered, 'status' | 'retryAfter'>>;
  close(): void;
}

const TICK_MILLISECONDS = 5;
const HEAD_END = '\r\n\r\n';

/** By hand: of two cores that it shares with what it measures, an HTTP client took most of one. */
function openLine(host: string, port: number, key: string): Line {
  let socket: Socket | undefined;
  let got = '';
  let answered: ((answer: Pick<Answered, 'status' | 'retryAfter'>) => void) | undefined;
  const answer = (status: number, retryAfter: boolean) => {
    got = '';
    const tell = answered;
    answered = undefined;
    tell?.({ status, retryAfter });
  };
  const broke = (line: Socket) => {
    if (line !== socket) return;
    socket = undefined;
    answer(0, false); // a broken connection is an answer too: none
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
    const line = connect(port, host).setNoDelay().setEncoding('latin1');
    line.on('data', read);
    line.on('error', () => broke(line));
    line.on('close', () => broke(line));
    return line;
  };
  return {
    async opened() {
      socket ??= open();
      await once(socket, 'connect');
    },
    ask: (uid) =>
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
  const lines = Array.from({ length: Number(connections) }, () => openLine(hostname, Number(port), key));
  // Two thousand who connect in one moment are another matter than two thousand who are there and ask.
  for (const line of lines) await line.opened();
  const answers: Answered[] = [];
  const begun = performance.now();
  const end = begun + Number(seconds) * 1000;
  let count = 0;
  const create = async (line: Line, due: number) => {
    const uid = `load-${process.pid}-${++count}`;
    const answer = await line.ask(uid);
    answers.push({ ...answer, uid, at: due - begun, milliseconds: performance.now() - due });
  };
  if (Number(rate) === 0) {
    const loop = async (line: Line) => {
      while (performance.now() < end) await create(line, performance.now());
    };
    await Promise.all(lines.map(loop));
  } else {
    const gap = 1000 / Number(rate);
    const free = [...lines];
    /** Due, and no connection is free. */
    const late: number[] = [];
    const pending: Promise<void>[] = [];
    const send = async (line: Line, due: number) => {
      await create(line, due);
      for (let next = late.shift(); next !== undefined; next = late.shift()) await create(line, next);
      free.push(line);
    };
    for (let due = begun; due < end; ) {
      for (; due < performance.now(); due += gap) {
        const line = free.shift(); // in turn: each is a client of its own
        if (line === undefined) late.push(due);
        else pending.push(send(line, due));
      }
      await new Promise((resolve) => setTimeout(resolve, TICK_MILLISECONDS));
    }
    await Promise.all(pending);
  }
  for (const line of lines) line.close();
  process.stdout.write(JSON.stringify(answers));
}
