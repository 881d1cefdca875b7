/** Every address of the app, below `/app`. Links come from here. */
export const paths = {
  home: '/',
  signIn: '/sign-in',
  invitation: (token: string) => `/invitation/${token}`,
  sandbox: '/sandbox',
  queue: '/queue',
  task: (task: string) => `/tasks/${encodeURIComponent(task)}`,
  work: '/work',
  me: '/me',
  account: {
    overview: '/account',
    access: '/account/access',
    jobs: '/account/jobs',
    chats: '/account/chats',
    deliveries: '/account/deliveries',
    balance: '/account/balance',
    brands: '/account/brands',
    team: '/account/team',
  },
  console: {
    home: '/console',
  },
};

/** Where somebody of a role begins. */
export const HOMES = {
  editor: paths.queue,
  customer: paths.account.overview,
  operator: paths.console.home,
} as const;
