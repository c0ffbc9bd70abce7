/**
 * A recording as one HTML file that works from a disk. It needs no network and no other file. Nothing of the run can become markup or
 * script in it.
 */
import { viewHashes, viewScript, viewStyle } from "./script.ts"
import { markup, scriptJson } from "../text/Escape.ts"
import { duration } from "../text/Words.ts"
import { verdictPage } from "../recording/Advice.ts"
import { docsUrl, type Links, traceUrl } from "../recording/Links.ts"
import { failureWords, type Outcome, signs, spentWords, titleOf } from "../recording/Outcome.ts"
import { inner } from "../drawing/Figure.ts"
import { sheet, whole } from "../drawing/Layout.ts"
import type { Recording } from "../recording/Recording.ts"
import * as Scene from "../scene/Scene.ts"
import * as Svg from "../drawing/Svg.ts"

/** The options of a page. */
interface Titled {
  /** The title of the page; by default how the run ended, or what ended it: `✕ PaymentDeclined · refund-desk`. */
  readonly title?: string
}

/** The options of `make`. */
interface Options extends Titled {
  /** Where the links of the page lead. */
  readonly links?: Links
  /** The test of the run, as `kintsugi test` writes it. The page copies it; without it, the page copies that command. */
  readonly test?: string
}

/** Makes one HTML page of a recording, with script and style. A browser without scripts shows the timeline and the sums. */
export const make = (recording: Recording, options?: Options): string => {
  const scene = Scene.make(recording)
  const { outcome } = scene
  const links = options?.links ?? {}
  const title = options?.title ?? (outcome === undefined ? Svg.titleOf(scene) : titleOf(outcome))
  const drawn = sheet(scene)
  const picture = `<svg class="k-figure" role="img" aria-label="Timeline" viewBox="0 0 1000 ${drawn.height}">${inner(drawn, 1000, whole(drawn))}</svg>`
  return page({
    title,
    connect: "'none'",
    data: {
      ...given(options?.title),
      events: recording.events.map(forReaders),
      problems: recording.problems,
      links,
      ...(options?.test === undefined ? {} : { test: options.test })
    },
    still: `${outcome === undefined ? "" : answer(outcome, links)}<p>${markup(Svg.describe(scene))}</p>${picture}`
  })
}

/** The outcome for a reader without scripts: the failure, where it was and why, what would have gone on, and the links. */
const answer = (outcome: Outcome, links: Links): string => {
  const { fatal } = outcome
  const [row, trace] = [fatal?.row, traceUrl(links, outcome)]
  const about = [
    link(docsUrl(links, fatal?.page), fatal?.code),
    ...(fatal?.verdict === undefined ? [] : [link(docsUrl(links, verdictPage(fatal.verdict)), fatal.verdict)]),
    ...(row === undefined || links.docs === undefined ? [] : [link(docsUrl(links, row.page), "About this row")]),
    ...(trace === undefined ? [] : [link(trace, "Open the trace")])
  ].filter((one) => one !== "")
  return [
    `<h2>${markup(fatal === undefined ? signs[outcome.kind].word : `${fatal.tag}: ${fatal.message}`)}</h2>`,
    `<p>${markup(sums(outcome))}</p>`,
    ...(outcome.answer === undefined ? [] : [`<p>${markup(outcome.answer)}</p>`]),
    ...(row === undefined ? [] : [`<p>A row that would have gone on: <code>${markup(row.code)}</code></p>`]),
    ...(about.length === 0 ? [] : [`<p>${about.join(" · ")}</p>`])
  ].join("")
}

/** How long a run took, what failed in it, and what it has spent. */
const sums = (outcome: Outcome): string =>
  [duration(outcome.to - outcome.from), failureWords(outcome), spentWords(outcome)]
    .filter((one) => one !== "")
    .join(" · ")

const link = (url: string | undefined, text: string | undefined): string => {
  if (text === undefined) return ""
  return url === undefined ? `<code>${markup(text)}</code>` : `<a href="${markup(url)}">${markup(text)}</a>`
}
/** The title that the caller has chosen, which the page shows instead of the agent. */
// Mutant `false` survives: JSON leaves out what is undefined
const given = (title: string | undefined): object => (title === undefined ? {} : { title })

/**
 * Removes the snapshot from an event: it has withheld texts, bytes and the tokens of deferred calls, which readers of the page must not
 * get.
 */
const forReaders = (event: Recording["events"][number]): object =>
  Object.fromEntries(Object.entries(event).filter(([key]) => key !== "snapshot"))

/** Where the page gets the events of a run at work, and the title of the page. */
interface Live extends Titled {
  /**
   * The URL of a stream of server-sent events, absolute or relative to the page. The `data` of each server-sent event is one event of the
   * run in its JSON form. The URL must have the origin of the page.
   */
  readonly url: string
  /** The body of a POST request for the stream, as JSON. Without a body, the page sends a GET request. */
  readonly body?: unknown
}

/** Makes an HTML page that shows a run at work. Its script reads the events of `url`, as Server-Sent Events. */
export const live = ({ body, title, url }: Live): string =>
  page({
    title: title ?? "A run at work",
    connect: "'self'",
    data: { ...given(title), url, ...(body === undefined ? {} : { body }) },
    still: ""
  })

interface Parts {
  readonly title: string
  readonly connect: string
  readonly data: unknown
  readonly still: string
}

const page = ({ connect, data, still, title }: Parts): string =>
  [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src '${viewHashes.script}'; style-src '${viewHashes.style}'; connect-src ${connect}; base-uri 'none'; form-action 'none'">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${markup(title)}</title>`,
    `<style>${viewStyle}</style>`,
    "</head>",
    "<body>",
    `<header><div class="line"><h1>${markup(title)}</h1></div></header>`,
    `<main id="report"><div class="still">${still}</div></main>`,
    `<script type="application/json" id="data">${scriptJson(data)}</script>`,
    `<script>${viewScript}</script>`,
    "</body>",
    "</html>",
    ""
  ].join("\n")
