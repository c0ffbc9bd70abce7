/** A page by keys alone, and by what is read out of it. */
import type { Report } from "../../../../scripts/report.ts"
import type { Tab } from "../tab.ts"

/** Whatever can have the focus has a name. */
export const names = async (tab: Tab, report: Report, page: string): Promise<void> => {
  const { nodes } = Object(await tab.send("Accessibility.getFullAXTree"))
  const focusable = nodes.filter(
    ({
      ignored,
      properties = []
    }: {
      ignored: boolean
      properties?: ReadonlyArray<{ name: string; value: { value: unknown } }>
    }) => !ignored && properties.some(({ name, value }) => name === "focusable" && value.value === true)
  )
  const nameless = focusable.filter(({ name, role }: { name?: { value?: string }; role: { value: string } }) => {
    // what scrolls can have the focus as well, and the whole page
    return (name?.value ?? "") === "" && !["RootWebArea", "generic"].includes(role.value)
  })
  // rows that can be chosen belong to a grid
  const grids = nodes.filter(({ role }: { role?: { value: string } }) => role?.value === "grid")
  report.check(
    `the page of ${page}: its table is a grid with a name`,
    grids.length === 1 && grids[0].name?.value !== ""
  )
  report.check(
    `the page of ${page}: all ${focusable.length} that can have the focus have a name`,
    focusable.length > 5 && nameless.length === 0,
    JSON.stringify(nameless.slice(0, 3))
  )
}

const focused = "(document.activeElement.className + ' ' + document.activeElement.tagName)"
const said = "document.querySelector('.timeline [role=status]').textContent"
const title = "document.querySelector('#details-title').textContent"
const chosen = "document.querySelector('.entry.is-selected .heading')?.textContent ?? ''"

export const keyboard = async (tab: Tab, report: Report): Promise<void> => {
  const is = async (what: string, expression: string, holds: (value: string) => boolean) => {
    const value = await tab.evaluate<string>(expression)
    report.check(`by keys: ${what}`, holds(value), value)
  }
  await tab.evaluate("document.body.focus()")
  let tabs = 0
  while (tabs < 12 && !(await tab.evaluate<string>(focused)).startsWith("figure")) {
    await tab.press("Tab")
    tabs++
  }
  report.check("by keys: Tab leads to the timeline", tabs > 0 && tabs < 12, String(tabs))
  await tab.press("ArrowRight")
  await is("the first arrow chooses the run", said, (text) =>
    text.startsWith("json-analyst. run of json-analyst, went well")
  )
  await tab.press("ArrowDown")
  await tab.press("ArrowDown")
  await is("arrow down goes to the lane below", said, (text) => text.startsWith("stand-in. model of json-analyst"))
  await tab.press("ArrowRight")
  await tab.press("ArrowRight")
  await is(
    "arrow right goes on in the lane, to the verdict",
    said,
    (text) => text.includes("→ retry") || text.includes("failed")
  )
  await is("the ring is around it", "String(!document.querySelector('.ring').hidden)", (text) => text === "true")
  await is("the details are about it", `JSON.stringify([${title}, ${said}])`, (text) => {
    const [title = "", said = ""]: Array<string> = JSON.parse(text)
    return said.startsWith(title)
  })
  await is("the transcript keeps step", chosen, (text) => text !== "")
  await is(
    "and shows it",
    "(() => { const box = document.querySelector('.transcript .scroller').getBoundingClientRect(); const own = document.querySelector('.entry.is-selected').getBoundingClientRect(); return String(own.bottom > box.top && own.top < box.bottom) })()",
    (text) => text === "true"
  )
  await tab.press("Enter")
  await is("Enter goes to the details", focused, (text) => text.startsWith("details"))
  await tab.press("Escape")
  await is("Escape comes back", focused, (text) => text.startsWith("figure"))
  const place = "JSON.stringify([...document.querySelectorAll('.figure svg .k-small')].map((one) => one.textContent))"
  const before = await tab.evaluate<string>(place)
  const redrawn = () =>
    tab.evaluate("new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))")
  await tab.press("+")
  await redrawn()
  await is("plus zooms in", place, (text) => text !== before)
  await tab.press("0")
  await redrawn()
  await is("0 shows all again", place, (text) => text === before)
  await tab.press("Escape")
  await redrawn()
  await is(
    "Escape leaves what was chosen",
    "String(document.querySelector('.ring').hidden) + document.querySelectorAll('.entry.is-selected').length",
    (text) => text === "true0"
  )

  await tab.evaluate("document.querySelector('.figure').focus()")
  for (let tabs = 0; tabs < 3 && !(await tab.evaluate<string>(focused)).startsWith("skip"); tabs++)
    await tab.press("Tab")
  await tab.press("Enter")
  await is("the table is a few steps from the timeline", focused, (text) => text.endsWith(" TR"))
  await tab.evaluate("document.querySelectorAll('.entry .heading')[4].focus()")
  await tab.press("Enter")
  await is(
    "Enter in the transcript chooses there",
    "String(document.querySelectorAll('.entry')[4].classList.contains('is-selected'))",
    (text) => text === "true"
  )
  await is("and in the timeline", "String(!document.querySelector('.ring').hidden)", (text) => text === "true")
  await tab.evaluate("document.querySelector('tbody tr[tabindex=\"0\"]').focus()")
  await tab.press("Home")
  await tab.press("ArrowDown")
  await is("the table goes row by row", "document.activeElement.getAttribute('aria-rowindex')", (text) => text === "3")
  await tab.press("Enter")
  await is(
    "and chooses",
    `JSON.stringify([${title}, document.querySelector('tr.is-selected')?.children[4].textContent])`,
    (text) => {
      const [title, row] = JSON.parse(text)
      return title === row
    }
  )
  await is(
    "the theme can be chosen",
    "(() => { document.querySelector('.theme').click(); return document.documentElement.dataset.theme })()",
    (text) => text === "dark"
  )
  const { data } = Object(await tab.send("Page.printToPDF"))
  report.check("it can be printed", String(data).length > 10_000, String(String(data).length))
  const blocked = await tab.evaluate<string>("fetch('http://127.0.0.1:9/').then(() => 'sent', () => 'blocked')")
  report.check(
    "nothing can be sent from it",
    blocked === "blocked" && tab.faults.some((fault) => fault.includes("Content Security Policy")),
    blocked
  )
}

/** A long text of a run stays readable: it is folded, and whole when somebody wants it. */
export const folding = async (tab: Tab, report: Report): Promise<void> => {
  const said = await tab.evaluate<string>(
    "(() => { const fold = document.querySelector('.entry .fold'); const text = () => fold.previousSibling.textContent.length; const before = text(); fold.click(); return JSON.stringify([before, text(), fold.getAttribute('aria-expanded')]) })()"
  )
  const [before = 0, after = 0, expanded] = JSON.parse(said)
  report.check("a long text is folded, and unfolds", before < 800 && after === 5000 && expanded === "true", said)
}
