/** Long pages on paper: what is left out is said, and nothing stays folded. */
import { Page, Recording } from "@kintsugi/view"
import { long } from "../../../../test/view/_support/references.ts"
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

/** A long run, and six lines that are none of its events. */
const broken = (): Recording.Recording => {
  const lines = long(60_000).events.map((event) => JSON.stringify(event))
  return Recording.fromLines([...Array.from({ length: 6 }, () => "{"), ...lines])
}

const seen =
  "JSON.stringify([document.querySelectorAll('.entry').length, document.querySelector('.entries').lastElementChild.innerText, document.querySelector('.problems').open, document.querySelector('.figure').dataset.drawing])"

export const paper = async (tab: Tab, report: Report, place: (name: string, html: string) => string): Promise<void> => {
  await tab.open(place("paper", Page.make(broken())))
  await tab.until("document.querySelector('.figure')?.dataset.drawing !== undefined")
  const before = await tab.evaluate<string>(seen)
  await tab.evaluate("void dispatchEvent(new Event('beforeprint'))")
  const [entries, last, isOpen, drawing] = JSON.parse(await tab.evaluate<string>(seen))
  report.check(
    "on paper, a long transcript says how much of it is not there",
    entries === 5001 && /^[\d,]+ later entries not printed/.test(last),
    `${entries}: ${last}`
  )
  report.check("on paper, problems are not folded", isOpen === true, String(isOpen))
  report.check("on paper, all rows of a large drawing are there", drawing === "svg", drawing)
  await tab.evaluate("void dispatchEvent(new Event('afterprint'))")
  const [, , isFolded, canvas] = JSON.parse(await tab.evaluate<string>(seen))
  report.check(
    "on the screen all is as before then",
    isFolded === false && canvas === "canvas" && JSON.parse(before)[2] === false,
    `${isFolded} ${canvas}`
  )
}
