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

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replaceAll(/\{(runId|from|to)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""))

/** Whether a template is an address of the web. Any other one could start a program or a script. */
export const isWeb = (template: string): boolean => /^https?:\/\/[^\s/]/i.test(template)
