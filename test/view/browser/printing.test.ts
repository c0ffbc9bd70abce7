/** What a report shows on paper. */
import { describe, expect, it } from "vitest"
import { printing } from "../../../packages/view/src/browser/printing.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { elementOf, page, PageElement, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"
import { events, recordingOf } from "./_support/desk.ts"

withPage()

const paper = (all: ReadonlyArray<object>) => {
  const main = new PageElement("main")
  page.body.replaceChildren(main)
  page.body.listeners.splice(0)
  // cast: the elements of a test are those of the small document
  printing(main as unknown as HTMLElement, new Store(recordingOf(all)))
  const print = () => {
    page.body.dispatch(new PageEvent("beforeprint"))
    return elementOf(main).querySelectorAll(".printed").map(String)
  }
  return { main, print, after: () => page.body.dispatch(new PageEvent("afterprint")) }
}

const failed = (index: number) => [
  { turn: 1, type: "tool-start", callId: `c${index}`, tool: "pay", arguments: {} },
  { turn: 1, type: "tool-failed", callId: `c${index}`, tool: "pay", attempt: 1, error: { name: "No", message: "<no>" } }
]

describe("a report on paper [P1219]", () => {
  it("has the failures of the conversation, once for each time it is printed [P1219]", () => {
    const { after, main, print } = paper(events)
    after()
    const printed = print()
    const entry = (heading: string, said: string) =>
      `<li class="entry lost"><strong dir="auto">desk: ${heading}</strong><pre class="said" dir="auto">${said}</pre></li>`
    const list = [
      entry("look failed: Busy", "later"),
      entry("pay failed: Declined", "no"),
      entry("desk fails", "Declined: no")
    ]
    expect(printed).toEqual([
      `<section class="printed" aria-label="Failures"><h2>Failures</h2><ol class="chunk">${list.join("")}</ol></section>`
    ])
    expect(print()).toEqual(printed)
    after()
    expect(main.children).toEqual([])
  })

  it("has no heading without failures [P1219]", () => {
    const { print } = paper(events.slice(0, 4))
    expect(print()).toEqual(['<section class="printed" aria-label="Failures"><ol class="chunk"></ol></section>'])
  })

  it("has 200 failures, and says how many more there are [P1219]", () => {
    const of = (many: number) => {
      const { main, print } = paper(Array.from({ length: many }, (_, index) => failed(index)).flat())
      print()
      return [main.querySelectorAll("li").length, main.querySelector("p")?.textContent]
    }
    expect(of(200)).toEqual([200, undefined])
    expect(of(201)).toEqual([200, "1 later failure not printed here: the page has all."])
    expect(of(203)).toEqual([200, "3 later failures not printed here: the page has all."])
  })

  it("unfolds the problems, and folds them afterwards unless a reader had unfolded them [P1219]", () => {
    const { after, main, print } = paper(events)
    const [folded, unfolded] = [new PageElement("details"), new PageElement("details")]
    for (const one of [folded, unfolded]) one.className = "problems"
    unfolded.toggleAttribute("open", true)
    main.append(folded, unfolded)
    print()
    expect([folded.isShown, unfolded.isShown]).toEqual([true, true])
    after()
    expect([folded.isShown, unfolded.isShown]).toEqual([false, true])
  })
})
