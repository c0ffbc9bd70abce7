/** A page by its pointer: what it shows of what it is over, chooses and moves. */
import type { Page } from "playwright-core"
import type { Report } from "../../../../scripts/report.ts"
import { boxOf, drawn, redrawn } from "./drawn.ts"

export const pointer = async (page: Page, report: Report): Promise<void> => {
  await drawn(page)
  const figure = page.locator(".figure")
  await figure.evaluate((own) => own.scrollIntoView())
  const broken = await boxOf(figure.locator(".k-pale").first())
  const [x, y] = [broken.x + broken.width / 3, broken.y + broken.height / 2]
  await page.mouse.move(x, y)
  const tip = await page.locator(".tip").innerText()
  report.check(
    "over a broken attempt, its error and how long it lasted are shown",
    /Error: [^]*Lasts: \d+ ms/.test(tip) && (await page.locator(".tip").isVisible()),
    tip
  )
  await page.mouse.down()
  await page.mouse.up()
  await redrawn(page)
  const ring = await boxOf(page.locator(".ring"))
  const isAround = ring.x < x && ring.x + ring.width > x && ring.y < y && ring.y + ring.height > y
  report.check("pressed, it is chosen, and the ring is around it", isAround, JSON.stringify(ring))
  const ticks = () =>
    figure.locator("svg .k-axis").evaluateAll((axes) => axes.map((axis) => axis.getAttribute("d")).join())
  await page.getByRole("button", { name: "Zoom in" }).click()
  await redrawn(page)
  const before = await ticks()
  const room = await boxOf(figure)
  const [from, at] = [room.x + room.width / 2, room.y + room.height / 2]
  await page.mouse.move(from, at)
  await page.mouse.down()
  for (const by of [10, 40, 80]) await page.mouse.move(from - by, at)
  await page.mouse.up()
  await redrawn(page)
  const after = await ticks()
  report.check("drawn aside, it shows what comes later", before !== after, after)
  const chosen = await page.locator("#details-title").innerText()
  report.check("and what was chosen stays chosen", chosen !== "Details", chosen)
}
