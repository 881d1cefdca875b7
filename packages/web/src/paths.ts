/** All addresses of the app, relative to `/app`. */
export const paths = {
  home: '/',
  signIn: '/sign-in',
  forgottenPassword: '/forgotten-password',
  invitation: (token: string) => `/invitation/${token}`,
  sandbox: '/sandbox',
  sandboxKey: (token: string) => `/sandbox/${token}`,
  queue: '/queue',
  task: (task: string) => `/tasks/${encodeURIComponent(task)}`,
  work: '/work',
  me: '/me',
  account: {
    overview: '/account',
    translate: '/account/translate',
    access: '/account/access',
    jobs: '/account/jobs',
    chats: '/account/chats',
    deliveries: '/account/deliveries',
    balance: '/account/balance',
    brands: '/account/brands',
    team: '/account/team',
    memory: '/account/memory',
    data: '/account/data',
  },
  console: {
    home: '/console',
    accounts: '/console/accounts',
    account: (username: string) => `/console/accounts/${encodeURIComponent(username)}`,
    money: (username: string) => `/console/accounts/${encodeURIComponent(username)}/money`,
    brands: (username: string) => `/console/accounts/${encodeURIComponent(username)}/brands`,
    votes: (username: string) => `/console/accounts/${encodeURIComponent(username)}/votes`,
    brand: (username: string, brand: string) =>
      `/console/accounts/${encodeURIComponent(username)}/brands/${encodeURIComponent(brand)}`,
    jobs: '/console/jobs',
    job: (username: string, job: string) => `/console/jobs/${encodeURIComponent(username)}/${job}`,
    tasks: '/console/tasks',
    deliveries: '/console/deliveries',
    delivery: (delivery: string) => `/console/deliveries/${delivery}`,
    engines: '/console/engines',
    compare: '/console/engines/compare',
    pairs: '/console/pairs',
    routes: '/console/routes',
    people: '/console/people',
    requests: '/console/requests',
    audit: '/console/audit',
    settings: '/console/settings',
  },
};

/** The home page of each role. */
export const HOMES = {
  editor: paths.queue,
  customer: paths.account.overview,
  operator: paths.console.home,
} as const;

/** The guides, which the server serves outside the app. */
export const GUIDES = '/docs';
