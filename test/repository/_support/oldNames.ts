/** The table of old and new names in `docs/versions.md`, the one text that has names which are no longer public. */
import type { File } from "../../../scripts/files.ts"

/** The same file; the page of versions without its table of names. */
export const withoutOldNames = ({ path, text }: File): File =>
  path === "docs/versions.md" ? { path, text: text.replace(/\n## Names\n[^]*/, "") } : { path, text }
