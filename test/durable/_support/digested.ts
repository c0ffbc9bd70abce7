/** Waits for what WebCrypto does on other threads. */
import { Effect } from "effect"

/** Ends after the digests that are under way: the id of a run is digested on another thread, which may take a while on a busy machine. */
export const digested = Effect.promise(() => crypto.subtle.digest("SHA-256", new Uint8Array()))
