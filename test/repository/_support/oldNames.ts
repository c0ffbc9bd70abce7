/** The page of former names, the one text that has names which are no longer public. */
import type { File } from "../../../scripts/files.ts"

/** The same file; the page of former names without its text. */
export const withoutOldNames = ({ path, text }: File): File => ({
  path,
  text: path === "docs/reports/former-names.md" ? "" : text
})
