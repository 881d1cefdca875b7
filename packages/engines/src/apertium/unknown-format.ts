/** Thrown when a file does not have the expected format. */
export class UnknownFormat extends Error {}
