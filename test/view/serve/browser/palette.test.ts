/** The palette of acts. */
import { describe, expect, it } from "vitest"
import { Palette } from "../../../../packages/view/src/serve/browser/palette.ts"
import { elementOf, page, withPage } from "../../_support/dom.ts"
import { PageEvent } from "../../_support/pageEvent.ts"

withPage()

const shown = (...names: ReadonlyArray<string>) => {
  const done: Array<string> = []
  const palette = new Palette(() => names.map((name) => ({ name, act: () => done.push(name) })))
  const root = elementOf(palette.root)
  const box = root.querySelector("input")
  if (box === null) throw new Error("there is no box")
  const type = (text: string) => {
    box.value = text
    box.dispatch(new PageEvent("input"))
  }
  const key = (key: string) => box.dispatch(new PageEvent("keydown", { key }))
  const options = () =>
    root
      .querySelectorAll("li")
      .map((one) => `${one.textContent}${one.getAttribute("aria-selected") === "true" ? " *" : ""}`)
  return { palette, root, box, type, key, options, done }
}

describe("the palette of acts [P1281]", () => {
  it("is opened by its button or its keys, and begins anew each time [P1281]", () => {
    const { box, options, palette, root, type } = shown("Run", "Stop")
    expect(String(palette.opener())).toBe(
      '<button type="button" title="Ctrl-K or ⌘K" aria-keyshortcuts="Control+K Meta+K">Acts</button>'
    )
    elementOf(palette.opener()).click()
    expect([root.isShown, page.activeElement, ...options()]).toEqual([true, box, "Run *", "Stop"])
    type("st")
    palette.show()
    expect(options()).toEqual(["Stop *"])
    root.close()
    const pressed = page.body.dispatch(new PageEvent("keydown", { key: "K", ctrlKey: true }))
    expect([pressed.defaultPrevented, root.isShown, box.value, ...options()]).toEqual([true, true, "", "Run *", "Stop"])
    root.close()
    for (const event of [new PageEvent("keydown", { key: "k" }), new PageEvent("keydown", { key: "x", ctrlKey: true })])
      page.body.dispatch(event)
    expect(root.isShown).toBe(false)
    expect(String(root)).toMatch(
      /^<dialog class="palette" aria-label="Acts"><input type="text" role="combobox" aria-label="Acts" aria-expanded="true" aria-controls="acts" aria-autocomplete="list" placeholder="run, stop, a fault, a run…" aria-activedescendant="act-0"><\/input><ul id="acts" role="listbox" aria-label="Acts"><li id="act-0" role="option" aria-selected="true">Run</
    )
  })

  it("lists what has every word, twelve acts at most [P1281]", () => {
    const { options, palette, type, box } = shown(
      ...Array.from({ length: 13 }, (_, index) => `Run number ${index}`),
      "Stop the RUN"
    )
    palette.show()
    expect(options()).toHaveLength(12)
    type(" run  the ")
    expect(options()).toEqual(["Stop the RUN *"])
    type("none")
    expect([options(), box.getAttribute("aria-activedescendant")]).toEqual([[], null])
  })

  it("goes round with the arrow keys, and does what is chosen or clicked [P1281]", () => {
    const { box, done, key, options, palette, root } = shown("a", "b", "c")
    palette.show()
    const up = key("ArrowUp")
    expect([up.defaultPrevented, up.isStopped]).toEqual([true, true])
    expect([options(), box.getAttribute("aria-activedescendant")]).toEqual([["a", "b", "c *"], "act-2"])
    key("ArrowDown")
    key("ArrowDown")
    expect(options()).toEqual(["a", "b *", "c"])
    expect(key("x").defaultPrevented).toBe(false)
    expect([done, root.isShown]).toEqual([[], true])
    key("Enter")
    expect([done, root.isShown]).toEqual([["b"], false])
    palette.show()
    root.querySelectorAll("li")[2]?.click()
    expect([done, root.isShown]).toEqual([["b", "c"], false])
    palette.show()
    root.querySelector("ul")?.click()
    expect(root.isShown).toBe(true)
    root.click()
    expect(root.isShown).toBe(false)
    const none = shown()
    none.palette.show()
    none.key("Enter")
    expect(none.root.isShown).toBe(false)
  })
})
