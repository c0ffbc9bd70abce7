/**
 * The links of a report to other places: the trace of a run, and the pages of the documentation.
 *
 * @internal
 */
import type { Outcome } from "./Outcome.ts"

/** Where the links of a report lead. A link without its template is left out. */
export interface Links {
  /** The address of a trace, in which `{runId}`, `{from}` and `{to}` are replaced. The times are milliseconds since the epoch. */
  readonly trace?: string
  /** The address of the documentation, in which `{page}` is replaced: `https://docs.example/{page}`. */
  readonly docs?: string
  /** The address that shows code in an editor, in which `{file}`, `{line}` and `{column}` are replaced. */
  readonly editor?: string
  /** The folder of relative files of code, with which the links to an editor begin. */
  readonly folder?: string
}

/** The address of the trace of a run; `undefined` without a template. */
export const traceUrl = (
  { trace }: Links,
  { from, runId, to }: Pick<Outcome, "from" | "runId" | "to">
): string | undefined =>
  trace === undefined ? undefined : filled(trace, { runId, from: String(Math.floor(from)), to: String(Math.ceil(to)) })

/** The address of a page of the documentation, such as `errors#ratelimiterror`; `undefined` without a template. */
export const docsUrl = ({ docs }: Links, page: string | undefined): string | undefined =>
  docs === undefined || page === undefined
    ? undefined
    : docs.includes("{page}")
      ? docs.replaceAll("{page}", () => page)
      : `${docs.replace(/\/$/, "")}/${page}`

/** The address of a definition such as `src/desk.ts:31:20` in an editor; `undefined` without a template, or without such a text. */
export const editorUrl = ({ editor, folder = "" }: Links, definedAt: string | undefined): string | undefined => {
  const [, path = "", line = "", column = ""] = /^(.+):(\d+):(\d+)$/.exec(definedAt ?? "") ?? []
  if (editor === undefined || path === "") return undefined
  const isAbsolute = path.startsWith("/") || /^[a-z]:/i.test(path)
  const whole = (isAbsolute ? path : `${folder}/${path}`).toWellFormed()
  // a path of Windows, with `/` as in the URL of a file
  const slashed = /^[a-z]:/i.test(whole) ? `/${whole.replaceAll("\\", "/")}` : whole
  const file = encodeURI(slashed).replaceAll(/[?#&]/g, encodeURIComponent)
  const values: Readonly<Record<string, string>> = { file, line, column }
  return editor.replaceAll(/\{(file|line|column)\}/g, (_, name: string) => values[name] ?? "")
}

/** The templates of editors, by name. */
const editors: Readonly<Record<string, string>> = {
  vscode: "vscode://file{file}:{line}:{column}",
  cursor: "cursor://file{file}:{line}:{column}",
  idea: "idea://open?file={file}&line={line}&column={column}"
}

/** The template of an editor, from its name or from a template with `{file}`; `undefined` for one that could start a script. */
export const editorOf = (named: string): string | undefined => {
  if (Object.hasOwn(editors, named)) return editors[named]
  const isScript = /^(?:javascript|data|vbscript|blob):/i.test(named)
  const isAddress = /^[a-z][a-z0-9+.-]*:\/\//i.test(named) && named.includes("{file}") && !/\s/.test(named)
  return isAddress && !isScript ? named : undefined
}

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{(runId|from|to)\}/g, (_, name: string) =>
    encodeURIComponent((values[name] ?? "").toWellFormed())
  )

/** Whether a template is an address of the web. Any other one could start a program or a script. */
export const isWeb = (template: string): boolean => /^https?:\/\/[^\s/]/i.test(template)
