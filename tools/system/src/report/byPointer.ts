/** A failed run by pointer: rows, filters, the minimap, and the buttons that copy. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { boxOf, drawn, redrawn } from "../pictures/drawn.ts"

export const byPointer = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const check = (what: string, isRight: boolean, said?: string) => report.check(`by pointer: ${what}`, isRight, said)
  const rows = page.locator(".outline .rows [role=row]")
  await rows.filter({ hasText: "turn 7" }).click()
  check("a row is selected", (await page.locator(".inspector").innerText()).includes("turn 7"))
  const before = await rows.count()
  await rows.filter({ hasText: "turn 7" }).locator(".fold").click()
  check("its triangle unfolds it", (await rows.count()) > before)
  await page.getByRole("button", { name: /^✕ Lost 1$/ }).click()
  const lost = await rows.locator(".name").allInnerTexts()
  check(
    "a filter shows what was lost, and where",
    lost.some((text) => text.includes("refund")) && !lost.some((text) => text.includes("turn 7")),
    lost.join(" / ")
  )
  await page.getByRole("button", { name: "All 45", exact: true }).click()
  const map = await boxOf(page.locator(".map"))
  await page.mouse.move(map.x + map.width * 0.2, map.y + 10)
  await page.mouse.down()
  await page.mouse.move(map.x + map.width * 0.5, map.y + 10, { steps: 4 })
  await page.mouse.up()
  await redrawn(page)
  const frame = await boxOf(page.locator(".frame"))
  const share = frame.width / map.width
  check("a drag over the minimap zooms", share > 0.25 && share < 0.35, String(share))
  await page.locator(".map").dblclick()
  check("a double click shows all again", !(await page.locator(".frame").isVisible()))
  // as in browsers that give a page from a disk no clipboard
  await page.evaluate(() => Object.defineProperty(navigator, "clipboard", { value: undefined }))
  await page.getByRole("button", { name: /^Copy for an issue/ }).click()
  const area = page.getByRole("textbox", { name: "The text to copy" })
  const text = await area.inputValue()
  const selected = await area.evaluate((own: HTMLTextAreaElement) => own.selectionEnd - own.selectionStart)
  check(
    "without a clipboard, the text for an issue is shown and selected",
    text.includes("PaymentDeclined") && text.includes("turn 12") && selected === text.length,
    text
  )
  await page.keyboard.press("Escape")
  await page.keyboard.press("t")
  const test = await area.inputValue()
  check(
    "the key t shows the test of the run",
    test.includes('it("refund-desk goes on after PaymentDeclined"') && test.includes("TestClock"),
    test.slice(0, 400)
  )
  await page.keyboard.press("Escape")
}
