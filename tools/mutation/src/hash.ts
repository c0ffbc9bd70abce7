/** A digest of texts, long enough to tell files apart. */
import { createHash } from "node:crypto"

export const hashOf = (...texts: ReadonlyArray<string>): string =>
  createHash("sha256").update(texts.join("\0")).digest("hex").slice(0, 16)
