/** A client for the interfaces of Dragoman. */
export {};
