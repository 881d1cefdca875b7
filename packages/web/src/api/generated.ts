// Written by `npm run client-types` from the description of the interface. Not to be edited.

export type EditorLanguage = {
  source_language: string;
  target_language: string;
  /** Whether they may review it too. */
  review: boolean
};

/** What a link is for. */
export type Invitation = {
  purpose: 'invitation' | 'reset';
  email: string;
  name: string;
  role: PersonRole;
  account?: string | undefined;
  expires_at: string
};

export type InvitationAnswer = {
  name?: string | undefined;
  /** 10 to 200 characters. */
  password: string
};

/** Who is signed in. */
export type Me = {
  user_id: string;
  email: string;
  name: string;
  role: PersonRole;
  /** The username of a customer’s account. */
  account?: string | undefined;
  /** null: as the browser says. */
  locale: string | null;
  theme: Theme;
  languages: EditorLanguage[];
  session: {
    session_id: string;
    /** Whatever is done until then. */
    ends_at: string;
    /** So long may nothing be done. */
    idle_seconds: number
  }
};

export type MeChanges = {
  name?: string | undefined;
  locale?: string | null | undefined;
  theme?: Theme | undefined
};

export type PasswordChange = {
  current_password: string;
  /** 10 to 200 characters. */
  password: string
};

export type PersonRole = 'customer' | 'editor' | 'operator';

export type Session = {
  session_id: string;
  /** The one that asks. */
  current: boolean;
  /** The browser’s and the system’s name; empty where none is known. */
  user_agent: string;
  created_at: string;
  last_seen_at: string;
  ends_at: string
};

export type SignIn = {
  email: string;
  password: string
};

export type Theme = 'system' | 'light' | 'dark';

/** Every refusal of the routes of the web app. Told apart by its code. */
export type WebError = {
  /** Some codes bring more. */
  error: {
    code: WebErrorCode;
    /** A sentence for people, in English. */
    message: string;
    /** A sentence for each wrong field, where a form can show it. */
    fields?: Record<string, unknown> | undefined;
    /** Seconds until it may be tried again. */
    retry_after?: number | undefined
  }
};

export type WebErrorCode = 'invalid_request' | 'unauthorized' | 'not_signed_in' | 'wrong_sign_in' | 'insufficient_balance' | 'invalid_subscription' | 'read_only_key' | 'chat_not_allowed' | 'cross_site' | 'not_found' | 'method_not_allowed' | 'request_timeout' | 'stale_lease' | 'conflict' | 'unconfirmed' | 'job_canceled' | 'nothing_waits' | 'task_taken' | 'too_many_claims' | 'claims_paused' | 'too_large' | 'checks_failed' | 'unsupported_type' | 'too_many_attempts' | 'server_error' | 'unavailable';

/** What an operation is sent and answers. */
export interface Operations {
  /** Who is signed in */
  whoAmI: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Me
  };
  /** Sign in */
  signIn: {
    path: undefined;
    query: undefined;
    body: SignIn;
    answer: Me
  };
  /** Sign out */
  signOut: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** What a link is for */
  readInvitation: {
    path: {
      token: string
    };
    query: undefined;
    body: undefined;
    answer: Invitation
  };
  /** Choose a password by a link, and be signed in */
  acceptInvitation: {
    path: {
      token: string
    };
    query: undefined;
    body: InvitationAnswer;
    answer: Me
  };
  /** Where one is signed in */
  listSessions: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: {
      objects: Session[]
    }
  };
  /** Sign out everywhere but here */
  endOtherSessions: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** End one session */
  endSession: {
    path: {
      session_id: string
    };
    query: undefined;
    body: undefined;
    answer: undefined
  };
  /** Who is signed in */
  readMe: {
    path: undefined;
    query: undefined;
    body: undefined;
    answer: Me
  };
  /** Change one’s name, language or theme */
  changeMe: {
    path: undefined;
    query: undefined;
    body: MeChanges;
    answer: Me
  };
  /** Change one’s password */
  changePassword: {
    path: undefined;
    query: undefined;
    body: PasswordChange;
    answer: undefined
  }
}

/** Where each operation is. */
export const OPERATIONS = {
  whoAmI: ['GET', '/api/session'],
  signIn: ['POST', '/api/session'],
  signOut: ['DELETE', '/api/session'],
  readInvitation: ['GET', '/api/invitations/{token}'],
  acceptInvitation: ['POST', '/api/invitations/{token}'],
  listSessions: ['GET', '/api/sessions'],
  endOtherSessions: ['DELETE', '/api/sessions'],
  endSession: ['DELETE', '/api/sessions/{session_id}'],
  readMe: ['GET', '/api/me'],
  changeMe: ['PATCH', '/api/me'],
  changePassword: ['POST', '/api/me/password'],
} as const;
