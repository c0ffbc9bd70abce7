/** The head of the page: how the run ended, what ended it, where, why nothing stopped it, and what to do. */
import { docsUrl, type Links, traceUrl } from "../recording/Links.ts"
import { type Fatal, failureWords, type Outcome, sentenceOf, signs, spentWords } from "../recording/Outcome.ts"
import { clip } from "../text/Words.ts"
import { dateOf, period } from "./clock.ts"
import { copy } from "./copying.ts"
import { button, element } from "./Element.ts"
import { longText } from "./dom.ts"
import type { Store } from "./store.ts"

/** What the buttons of the head do. */
export interface Acts {
  readonly goToFailure: () => void
  readonly links: Links
  readonly issue: () => string
  /** The written test of the run, or the command that writes it. */
  readonly test: { readonly isWritten: boolean; readonly text: () => string }
  readonly link: () => string
  readonly keys: () => void
  readonly theme: () => void
}

/** Makes the content of the page's header. `isLive`: more events may come. */
export const header = (
  store: Store,
  acts: Acts,
  { isLive, title }: { readonly isLive: boolean; readonly title: string | undefined }
): ReadonlyArray<HTMLElement> => {
  const { events, outcome, scene } = store
  if (outcome === undefined)
    return [element("div", { class: "line" }, element("h1", {}, title ?? (isLive ? "A run at work" : "No run")))]
  const { sign, word } = isLive && outcome.kind === "unfinished" ? { sign: "●", word: "Running" } : signs[outcome.kind]
  const input = outcome.input === undefined ? "" : clip(outcome.input, 200)
  const line = element(
    "div",
    { class: "line" },
    element("span", { class: `status is-${outcome.kind}` }, `${sign} ${word}`),
    element("h1", { dir: "auto" }, title ?? outcome.agent),
    element("span", { class: "input", dir: "auto", title: input }, input === "" ? "" : `“${input}”`),
    element(
      "time",
      { class: "clock", datetime: dateOf(scene.from), title: new Date(scene.from).toLocaleString() },
      events.length === 0 ? "" : period(scene.from, scene.to)
    ),
    element(
      "span",
      { class: "run" },
      element("code", { title: outcome.runId }, shortId(outcome.runId)),
      copying("Copy", () => outcome.runId, "Copy the id of the run")
    ),
    button("Light or dark", acts.theme, { class: "theme" }),
    ...[traceUrl(acts.links, outcome)].flatMap((url) => (url === undefined ? [] : [linked(url, "Open the trace ↗")])),
    withKey(button("Keys ", acts.keys, { class: "help" }), "?")
  )
  return [line, ...body(outcome, acts)]
}

const shortId = (id: string): string => (id.length > 16 ? `${id.slice(0, 10)}…${id.slice(-3)}` : id)

const withKey = (made: HTMLButtonElement, name: string): HTMLButtonElement => {
  made.append(element("kbd", {}, name))
  return made
}

/** Makes a button that copies a text, and says that it did. */
export const copying = (label: string, text: () => string, title?: string): HTMLButtonElement =>
  button(label, (event) => void copy(text(), event.currentTarget), {
    class: "copy",
    ...(title === undefined ? {} : { title })
  })

const copyingTest = ({ test: { isWritten, text } }: Acts): HTMLButtonElement =>
  copying(
    "Copy as a test ",
    text,
    isWritten
      ? "A test that plays this run without a model, and fails as the run did until a row handles the failure"
      : "The command that writes a test of this run"
  )

/** A link to another place. */
export const link = (url: string, text: string): HTMLElement => element("a", { href: url, rel: "noreferrer" }, text)

/** A link to another place, or the text alone if the page does not know the address. */
const linked = (url: string | undefined, text: string): HTMLElement =>
  url === undefined ? element("span", {}, text) : link(url, text)

const body = (outcome: Outcome, acts: Acts): ReadonlyArray<HTMLElement> => {
  if (outcome.fatal !== undefined) return [why(outcome, outcome.fatal, acts)]
  const buttons = element(
    "div",
    { class: "acts" },
    withKey(copyingTest(acts), "t"),
    copying("Copy for an issue", acts.issue),
    copying("Link to here", acts.link)
  )
  const answer = outcome.answer
  return [
    element(
      "section",
      { class: "answer", "aria-label": "Answer" },
      ...(answer === undefined || answer === "" ? [] : [longText(answer)]),
      element("p", { class: "sentence" }, answer === undefined ? sentenceOf(outcome) : sumsOf(outcome)),
      buttons
    )
  ]
}

/** The failures and the spending of a run that has answered. */
const sumsOf = (outcome: Outcome): string => {
  const failures = failureWords(outcome)
  return `${failures === "" ? "No failures" : failures}; ${spentWords(outcome)}.`
}

/** Why nothing stopped the failure, whether its effect may have happened, and how the other failures ended. */
const whyLine = (outcome: Outcome, { mayHaveHappened, passed, reason }: Fatal): string => {
  const { healed, lost, tell } = outcome.failures
  const others = healed + tell + Math.max(0, lost - passed)
  return [
    `Why it ended the run: ${reason}.`,
    ...(mayHaveHappened ? ["Its effect may have happened."] : []),
    ...(others > 0 ? [`Other failures: ${others}, healed: ${healed}.`] : [])
  ].join(" ")
}

const why = (outcome: Outcome, fatal: Fatal, acts: Acts): HTMLElement => {
  const { code, message, page, path: names, row, tag } = fatal
  const path = element("p", { class: "place" })
  for (const [at, part] of names.entries()) {
    if (at > 0) path.append(element("span", { "aria-hidden": "true" }, " › "))
    path.append(
      at === names.length - 1 ? element("strong", { dir: "auto" }, part) : element("span", { dir: "auto" }, part)
    )
  }
  return element(
    "section",
    { class: "why", "aria-label": "Why it failed" },
    element(
      "div",
      { class: "what" },
      element("h2", { dir: "auto" }, message === "" ? tag : `${tag}: ${message}`),
      path,
      ...(code === undefined ? [] : [element("p", { class: "quiet" }, linked(docsUrl(acts.links, page), code))]),
      element("p", { class: "reason" }, whyLine(outcome, fatal)),
      element(
        "div",
        { class: "acts" },
        withKey(button("Go to the failure ", acts.goToFailure, { class: "primary" }), "."),
        withKey(copyingTest(acts), "t"),
        withKey(copying("Copy for an issue ", acts.issue), "c"),
        withKey(copying("Link to here ", acts.link), "l")
      )
    ),
    ...(row === undefined
      ? []
      : [
          element(
            "div",
            { class: "hint" },
            element("h3", {}, "A recovery row that would have let it go on"),
            element("pre", { dir: "auto" }, row.code),
            element("p", { class: "quiet" }, "Documentation: ", linked(docsUrl(acts.links, row.page), row.page))
          )
        ])
  )
}
