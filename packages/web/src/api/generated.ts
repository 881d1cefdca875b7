// Written by `npm run client-types` from the description of the interface. Not to be edited.

/** What an operation is sent and answers. */
export interface Operations {

}

/** Where each operation is. */
export const OPERATIONS = {
} as const;
