/** Draws a scene on a canvas. It is the same picture as that of `inner` in `Figure.ts`, for scenes with too many items for SVG elements. */
import * as Axis from "../drawing/Axis.ts"
import { dark, light, type Palette } from "../drawing/Colors.ts"
import { visible } from "../text/Escape.ts"
import {
  type Box,
  boxesOf,
  type Dot,
  dotsOf,
  gutter,
  scaleOf,
  type Sheet,
  top,
  type Window
} from "../drawing/Layout.ts"
import { broken, fillOf, fitting, indent, insetOf, isFaded, kinds, names, shapeOf, textOn } from "../drawing/Figure.ts"
import { duration } from "../text/Words.ts"

const face = "ui-sans-serif, system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif"

/** The visible part of the picture, which may be higher than its frame. */
export interface Port {
  readonly width: number
  readonly height: number
  readonly scrolled: number
}

/** Draws the visible part, and returns how many boxes and marks were drawn. */
export const draw = (context: CanvasRenderingContext2D, sheet: Sheet, window: Window, port: Port): number => {
  const palette = document.documentElement.dataset["theme"] === "dark" ? dark : light
  const ratio = devicePixelRatio
  context.setTransform(ratio, 0, 0, ratio, 0, 0)
  context.fillStyle = palette.paper
  context.fillRect(0, 0, port.width, port.height)
  context.translate(0, -port.scrolled)
  frame(context, sheet, window, port, palette)
  let drawn = 0
  const isSeen = ({ height, y }: { readonly y: number; readonly height: number }) =>
    y + height >= port.scrolled && y <= port.scrolled + port.height
  context.save()
  context.beginPath()
  context.rect(gutter - 6, port.scrolled, port.width - gutter + 6, port.height)
  context.clip()
  for (const row of sheet.rows)
    if (isSeen(row))
      boxesOf(sheet, row, port.width, window, (box) => {
        drawn++
        boxed(context, sheet, box, palette)
      })
  for (const row of sheet.rows)
    if (isSeen(row))
      dotsOf(sheet, row, port.width, window, (dot) => {
        drawn++
        dotted(context, dot, palette)
      })
  context.restore()
  return drawn
}

const frame = (context: CanvasRenderingContext2D, sheet: Sheet, window: Window, port: Port, palette: Palette): void => {
  const { left, right, x } = scaleOf(port.width, window)
  context.textBaseline = "alphabetic"
  for (const { end, from, start, to } of sheet.axis.breaks) {
    const [a, b] = [Math.max(left, x(start)), Math.min(right, x(end))]
    if (b < left || a > right) continue
    context.fillStyle = palette.raised
    context.fillRect(a, top - 6, b - a, sheet.height - top)
    context.save()
    context.translate((a + b) / 2 + 3, port.scrolled + port.height / 2)
    context.rotate(-Math.PI / 2)
    write(context, `${duration(to - from)} later`, 0, 0, palette.quiet, 11, "center")
    context.restore()
  }
  context.setLineDash([2, 3])
  context.strokeStyle = palette.line
  context.lineWidth = 1
  for (const { drawn, label } of Axis.ticks(sheet.axis, Math.max(0, window.start), window.end, (right - left) / 90)) {
    const px = x(drawn)
    if (px < left - 1 || px > right + 1) continue
    context.beginPath()
    context.moveTo(px, top - 6)
    context.lineTo(px, sheet.height - 4)
    context.stroke()
    write(context, label, px, port.scrolled + top - 12, palette.quiet, 11, "center")
  }
  context.setLineDash([])
  for (const { track, y } of sheet.headings) {
    const kind = kinds[track.kind]
    write(context, kind, indent(track.depth), y + 4, palette.quiet, 12, "left", 600)
    const offset = kind === "" ? 0 : context.measureText(kind).width
    write(context, fitting(track.agent, 200), indent(track.depth) + offset, y + 4, palette.ink, 12, "left", 600)
  }
  for (const { depth, height, layer, y } of sheet.captions)
    write(context, names[layer], indent(depth) + 12, y + Math.min(height, 24) / 2 + 3.5, palette.quiet, 11, "left")
}

const write = (
  context: CanvasRenderingContext2D,
  text: string,
  x: number,
  y: number,
  color: string,
  size: number,
  align: CanvasTextAlign,
  weight = 400
): void => {
  context.font = `${weight} ${size}px ${face}`
  context.textAlign = align
  context.fillStyle = color
  context.fillText(visible(text), x, y)
}

const boxed = (context: CanvasRenderingContext2D, { scene }: Sheet, box: Box, palette: Palette): void => {
  const { height, part, state, width, x, y } = box
  if (part === "wait" || part === "mending" || part === "approval") {
    context.strokeStyle = palette.gold
    context.lineWidth = part === "mending" ? 3 : 1.5
    context.setLineDash(part === "approval" ? [1, 4] : part === "wait" ? [4, 3] : [])
    context.beginPath()
    context.moveTo(x, y + height / 2)
    context.lineTo(x + width, y + height / 2)
    context.stroke()
    context.setLineDash([])
    return
  }
  const fill = fillOf(box)
  const inset = insetOf(box)
  const [upper, high] = [y + inset, height - 2 * inset]
  let room = width
  if (fill === "broken") {
    const shape = broken(x, upper, width, high)
    room = shape.room
    context.fillStyle = palette.failed
    context.globalAlpha = 0.25
    const body = new Path2D(shape.body)
    paint(context, body)
    context.globalAlpha = 1
    edge(context, palette.failed, () => context.stroke(body))
    paint(context, new Path2D(shape.shard))
  } else {
    context.globalAlpha = isFaded(state) ? 0.45 : 1
    context.fillStyle = palette[fill]
    // rounded corners take time, and cannot be seen on a narrow box
    if (width < 6) context.fillRect(x, upper, width, high)
    else {
      context.beginPath()
      context.roundRect(x, upper, width, high, 3)
      context.fill()
    }
    context.globalAlpha = 1
    if (isFaded(state) || fill === "run" || fill === "turn")
      edge(context, palette.edge, () => context.strokeRect(x, upper, width, high))
  }
  if (height < 13 || width < 24 || box.many > 1) return
  const from = Math.max(x, gutter)
  const text = fitting(scene.items[box.item]?.label ?? "", x + room - from - 10)
  if (text !== "") write(context, text, from + 5, y + height / 2 + 3.5, palette[textOn(box)], 11, "left")
}

/** Outlines what is paler than the signs. */
const edge = (context: CanvasRenderingContext2D, color: string, outline: () => void): void => {
  context.strokeStyle = color
  context.lineWidth = 1
  outline()
}

const paint = (context: CanvasRenderingContext2D, path: Path2D): void => {
  context.fill(path)
}

const dotted = (context: CanvasRenderingContext2D, { height, tone, x, y }: Dot, palette: Palette): void => {
  const size = Math.min(5, Math.max(3, height / 3))
  if (tone === "mended") {
    context.strokeStyle = palette.gold
    context.lineWidth = 2
    context.beginPath()
    context.moveTo(x, y - height / 2 - 1)
    context.lineTo(x, y + height / 2 + 1)
    context.stroke()
  }
  const path = new Path2D(shapeOf(tone, x, y, size))
  context.fillStyle =
    tone === "mended"
      ? palette.gold
      : tone === "lost"
        ? palette.failed
        : tone === "note"
          ? palette.quiet
          : palette.paper
  context.strokeStyle = tone === "tell" ? palette.gold : tone === "asked" ? palette.ink : palette.paper
  context.lineWidth = 1.2
  paint(context, path)
  context.stroke(path)
}
