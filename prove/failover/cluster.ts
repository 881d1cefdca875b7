/** A cluster of three PostgreSQL servers under Patroni, with etcd. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { freePort } from '../../scripts/program.ts';
import { type Node, prepareMachine, startNode, USER } from './node.ts';
import type { Tools } from './tools.ts';

export interface Cluster {
  nodes: readonly Node[];
  /** The connection string, which contains the addresses of the network links to all nodes. */
  url: string;
  /** Returns the node that accepts writes, or undefined if none does. */
  primary(): Promise<Node | undefined>;
  /** Resolves when one node accepts writes and all others follow it. */
  healthy(): Promise<void>;
  stop(): Promise<void>;
}

const NODES = ['node1', 'node2', 'node3'];
/** A status request to Patroni that takes longer than this counts as unanswered. */
const STATUS_MILLISECONDS = 1_000;
const HEALTHY_MILLISECONDS = 300_000;
const POLL_MILLISECONDS = 200;

export async function startCluster(tools: Tools, directory: string): Promise<Cluster> {
  const machine = prepareMachine(directory);
  const [client, peer] = [await freePort(), await freePort()];
  const etcd = machine.start(
    tools.etcd,
    [
      `--data-dir=${machine.own('etcd')}`,
      '--enable-v2',
      `--listen-client-urls=http://127.0.0.1:${client}`,
      `--advertise-client-urls=http://127.0.0.1:${client}`,
      `--listen-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
      `--initial-cluster=default=http://127.0.0.1:${peer}`,
    ],
    'etcd.log',
  );

  const nodes = await Promise.all(NODES.map((name) => startNode(name, tools, machine, client)));
  const answers = async ({ rest }: { rest: number }, path: string) => {
    const signal = AbortSignal.timeout(STATUS_MILLISECONDS);
    const response = await fetch(`http://127.0.0.1:${rest}/${path}`, { signal }).catch(() => undefined);
    await response?.body?.cancel();
    return response?.status === 200;
  };
  const which = async (path: string) => {
    const found = await Promise.all(nodes.map((node) => answers(node, path)));
    return nodes.filter((_, index) => found[index]);
  };
  return {
    nodes,
    url: `postgres://${USER}@${nodes.map(({ clients }) => `127.0.0.1:${clients.port}`).join(',')}/postgres?target_session_attrs=read-write`,
    primary: async () => (await which('primary'))[0],
    async healthy() {
      for (const end = Date.now() + HEALTHY_MILLISECONDS; ; await wait(POLL_MILLISECONDS)) {
        const [primaries, standbys] = await Promise.all([which('primary'), which('replica')]);
        const synchronous = await which('synchronous');
        if (primaries.length === 1 && standbys.length === nodes.length - 1 && synchronous.length > 0) return;
        if (Date.now() > end)
          throw new Error('the cluster did not become healthy: see the logs of its nodes');
      }
    },
    async stop() {
      await Promise.all(nodes.map((node) => node.stop()));
      etcd.kill('SIGKILL');
      if (etcd.exitCode === null && etcd.signalCode === null) await once(etcd, 'exit');
    },
  };
}
