/** The elements of a page: texts that stay texts, long texts, buttons that copy, and keys. */
import { Recording } from "@kintsugi/view"
import { describe, expect, it, vi } from "vitest"
import { copy } from "../../../packages/view/src/browser/copying.ts"
import { longText, svg } from "../../../packages/view/src/browser/dom.ts"
import { button, element } from "../../../packages/view/src/browser/Element.ts"
import { help, listen } from "../../../packages/view/src/browser/keys.ts"
import { Store } from "../../../packages/view/src/browser/store.ts"
import { buttonIn, elementOf, page, PageElement, press, withPage } from "../_support/dom.ts"
import { PageEvent } from "../_support/pageEvent.ts"

withPage()

describe("an element [P1214]", () => {
  it("has its attributes but those that are absent, and texts that stay texts [P1214]", () => {
    const made = element(
      "p",
      { class: "a", title: "<\u0000>", checked: true, hidden: false, lang: undefined, tabindex: 0 },
      "<b>\u001b",
      element("i", {}, "x")
    )
    expect(String(made)).toBe('<p class="a" title="&lt;\u2400&gt;" checked tabindex="0">&lt;b&gt;\u241b<i>x</i></p>')
  })

  it("that is a button calls its function [P1219]", () => {
    const act = vi.fn()
    const made = button("Go", act, { class: "main" })
    expect(String(made)).toBe('<button type="button" class="main">Go</button>')
    elementOf(made).click()
    expect(act).toHaveBeenCalledTimes(1)
  })

  it("that is a drawing is hidden from readers of the page [P1219]", () => {
    const make = vi.spyOn(document, "createElementNS")
    expect(String(svg("strip"))).toBe(
      '<svg class="k-figure strip" aria-hidden="true" preserveAspectRatio="none"></svg>'
    )
    expect(make.mock.calls).toEqual([["http://www.w3.org/2000/svg", "svg"]])
    make.mockRestore()
  })
})

describe("a long text [P1219]", () => {
  it("is whole up to 910 characters and 16 lines [P1219]", () => {
    for (const text of ["x".repeat(910), "\n".repeat(15)])
      expect(String(longText(text))).toBe(`<pre class="said" dir="auto">${text}</pre>`)
    for (const text of ["x".repeat(911), "\n".repeat(16)]) {
      const length = `Show all ${text.length} characters`
      expect(String(longText(text))).toBe(
        `<div><pre class="said is-cut" dir="auto">${text}</pre><button type="button" class="unfold" aria-expanded="false">${length}</button></div>`
      )
    }
  })

  it("is unfolded by its button, and folded [P1219]", () => {
    const made = longText("x".repeat(1234))
    const unfold = buttonIn(made, "Show all 1,234 characters")
    unfold.click()
    expect(String(unfold)).toBe('<button type="button" class="unfold" aria-expanded="true">Show less</button>')
    expect(elementOf(made).querySelector(".is-cut")).toBe(null)
    unfold.click()
    expect(String(unfold)).toContain('aria-expanded="false">Show all 1,234 characters<')
    expect(elementOf(made).querySelector(".is-cut")).not.toBe(null)
  })
})

describe("copying [P1708]", () => {
  it("says on the button that it has copied, for a while [P1708]", async () => {
    vi.useFakeTimers()
    const from = new PageElement("button")
    // cast: it is the element of this document
    await copy("text", from as unknown as EventTarget)
    expect(page.copied.splice(0)).toEqual(["text"])
    expect(from.dataset["copied"]).toBe("Copied")
    vi.advanceTimersByTime(1499)
    expect(from.dataset["copied"]).toBe("Copied")
    vi.advanceTimersByTime(1)
    expect(from.dataset["copied"]).toBeUndefined()
    vi.useRealTimers()
  })

  it("says nothing without a button [P1708]", async () => {
    await copy("text")
    expect([page.copied.splice(0), page.body.children]).toEqual([["text"], []])
  })

  it("shows the text where the browser copies nothing [P1708]", async () => {
    page.refusesCopies = true
    await copy("text")
    page.refusesCopies = false
    const [dialog] = page.body.children
    expect(String(dialog)).toBe(
      '<dialog class="copying" aria-label="Copy" open><p>This browser lets the page copy nothing. The text is selected: copy it with Ctrl+C or ⌘C.</p><textarea readonly rows="12" aria-label="The text to copy" data-selected="text"></textarea><button type="button">Close</button></dialog>'
    )
    expect(dialog?.querySelector("textarea")?.value).toBe("text")
    buttonIn(dialog, "Close").click()
    expect(page.body.children).toEqual([])
  })
})

describe("the keys of a page [P1219]", () => {
  const act = vi.fn()
  const all = [{ keys: ["n", "N"], says: "the next failure", act }]

  it("act unless a field, a dialog or the browser takes them [P1219]", () => {
    listen(all)
    expect(press("n").defaultPrevented).toBe(true)
    press("N")
    expect(act).toHaveBeenCalledTimes(2)
    expect(press("x").defaultPrevented).toBe(false)
    page.body.dispatch(new PageEvent("keydown", { key: "n", ctrlKey: true }))
    const prevented = new PageEvent("keydown", { key: "n" })
    prevented.preventDefault()
    page.body.dispatch(prevented)
    for (const name of ["input", "textarea", "dialog"]) {
      const field = new PageElement(name)
      field.attributes.set("open", "")
      page.body.append(field)
      press("n", field)
      field.remove()
    }
    expect(act).toHaveBeenCalledTimes(2)
  })

  it("are listed with the keys of the grids, until the list is closed [P1221]", () => {
    help(all, new Store(Recording.fromEvents([])))
    const [dialog] = page.body.children
    expect(String(dialog)).toContain(
      '<dialog class="about" aria-labelledby="about-title" open><h2 id="about-title">Keys and signs</h2><dl class="keys"><dt><kbd>n</kbd></dt><dd>the next failure</dd><dt><kbd>↑ ↓</kbd></dt><dd>go through the rows</dd>'
    )
    expect(dialog?.querySelectorAll("kbd").map((one) => one.textContent)).toEqual([
      "n",
      "↑ ↓",
      "→ ←",
      "Space",
      "Enter",
      "Esc"
    ])
    buttonIn(dialog, "Close").click()
    expect(page.body.children).toEqual([])
  })
})
