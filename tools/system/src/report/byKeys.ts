/** A failed run by keys alone. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { drawn, redrawn } from "../pictures/drawn.ts"

const partsOf = (page: Page) => ({
  selected: async () => (await page.locator('.outline [aria-selected="true"] .name').allInnerTexts()).join(),
  rows: async () => page.locator(".outline .rows [role=row] .name").allInnerTexts(),
  nth: () => page.locator(".nth").innerText(),
  found: () => page.locator(".found").innerText(),
  fragment: () => page.evaluate(() => location.hash),
  about: () => page.locator(".inspector").innerText()
})

export const byKeys = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const { about, found, fragment, nth, rows, selected } = partsOf(page)
  const check = (what: string, isRight: boolean, said?: string) => report.check(`by keys: ${what}`, isRight, said)
  const press = (...keys: ReadonlyArray<string>) =>
    keys.reduce((done, key) => done.then(() => page.keyboard.press(key)), Promise.resolve())
  check("the failure is selected at load", (await about()).includes("insufficient merchant balance"), await about())
  await press("Escape")
  check("Escape selects nothing", (await selected()) === "", await selected())
  await press(".")
  check("one key goes to the failure", /attempt 1/.test(await selected()), await selected())
  check("which is the last of six", (await nth()) === "failure 6 of 6", await nth())
  const isFocused = await page.locator('.outline [aria-selected="true"]:focus').count()
  check("and has the focus", isFocused === 1)
  await press("p")
  check("p goes to the failure before", (await nth()) === "failure 5 of 6", await nth())
  await press("n")
  check("n goes on", (await nth()) === "failure 6 of 6", await nth())
  await press("z")
  await page.waitForFunction(() => location.hash.includes("z="))
  check(
    "z fits the time, and the address keeps it",
    /^#e=\d+&z=[\d.]+-[\d.]+$/.test(await fragment()),
    await fragment()
  )
  await press("f", "0")
  await page.waitForFunction(() => !location.hash.includes("z="))
  check("0 shows all", /^#e=\d+$/.test(await fragment()), await fragment())
  await inTree(page, check, press, { rows, selected })
  await press("/")
  await page.keyboard.type("O-3-8")
  await page.locator(".found", { hasText: /\d+ found/ }).waitFor()
  await press("Enter")
  check("a search counts its matches, and goes to them", /^1 of \d+$/.test(await found()), await found())
  check("a match deep in the tree is unfolded", /turn|lookupOrder|gpt-5/.test(await selected()), await selected())
  check("and the rest is dimmed", (await page.locator(".outline .row.is-dim").count()) > 3)
  await press("Escape")
  await views(page, check, press)
}

type Check = (what: string, isRight: boolean, said?: string) => void
type Press = (...keys: ReadonlyArray<string>) => Promise<void>
type Parts = Pick<ReturnType<typeof partsOf>, "rows" | "selected">

const inTree = async (page: Page, check: Check, press: Press, { rows, selected }: Parts): Promise<void> => {
  await press(".", "Home", "ArrowDown", "ArrowDown", "ArrowDown")
  check("the arrows go through the rows", (await selected()).includes("turn 3"), await selected())
  await press("ArrowRight")
  await redrawn(page)
  const unfolded = await rows()
  check(
    "healthy calls at once are one row",
    unfolded.some((row) => row.includes("7 × lookupOrder")),
    unfolded.join(" / ")
  )
  check(
    "and failed ones are not",
    unfolded.filter((row) => row.includes("◆ retried\n")).length === 3,
    unfolded.join(" / ")
  )
  const expanded = await page.locator('.outline [aria-selected="true"]').getAttribute("aria-expanded")
  check("the row says that it is unfolded", expanded === "true", String(expanded))
  await press("ArrowLeft")
  check("arrow left folds it", (await rows()).length < unfolded.length)
  await press("Enter")
  check("Enter goes to the inspector", (await page.locator(".inspector :focus").count()) === 1)
  await press("ArrowRight", "Escape")
  check("Escape comes back to the row", (await page.locator('.outline [aria-selected="true"]:focus').count()) === 1)
}

const views = async (page: Page, check: Check, press: Press): Promise<void> => {
  await page.locator(".conversation[data-filled]").waitFor({ state: "attached" })
  await press("2")
  await redrawn(page)
  const entries = await page.locator(".entry").count()
  check("2 shows the conversation, with all entries", entries > 80, String(entries))
  const shown = await page.locator(".entry.is-selected").isVisible()
  check("at the selection", shown)
  await press("3")
  await redrawn(page)
  const row = page.locator('.events [aria-selected="true"]')
  check("3 shows the events, at the selection", await row.isVisible())
  await press("1")
  await press("?")
  const help = await page.getByRole("dialog").innerText()
  check(
    "a dialog lists the keys and the signs that occur",
    help.includes("the next failure") && help.includes("failed"),
    help
  )
  check("and no other signs", !help.includes("fixer") && !help.includes("HTTP request"), help)
  await press("Escape")
}
