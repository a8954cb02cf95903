"""Sample documents, built by hand from their standards."""

import io
import zipfile


def zipped(members: dict[str, str | bytes]) -> bytes:
    """Build a zip file whose first member is uncompressed."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for n, (name, content) in enumerate(members.items()):
            archive.writestr(name, content, zipfile.ZIP_STORED if n == 0 else zipfile.ZIP_DEFLATED)
    return out.getvalue()


def pdf(*pages: str) -> bytes:
    """Build a PDF with one line of text per page (ISO 32000-1, 7.5)."""
    kids = " ".join(f"{4 + 2 * n} 0 R" for n in range(len(pages)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for n, text in enumerate(pages):
        stream = f"BT /F1 12 Tf 72 720 Td ({text}) Tj ET" if text else ""
        objects += [
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> "
            f"/Contents {5 + 2 * n} 0 R >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
        ]
    out, places = b"%PDF-1.7\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode()
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    start = len(out)
    count = len(objects) + 1
    out += f"xref\n0 {count}\n0000000000 65535 f \n{table}trailer\n<< /Size {count} /Root 1 0 R >>\n".encode()
    return out + f"startxref\n{start}\n%%EOF\n".encode()


def xlsx() -> bytes:
    """Build two sheets with shared strings, numbers, a date, a boolean and an inline string."""
    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    related = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    return zipped({
        "xl/workbook.xml": (
            f'<workbook xmlns="{main}" xmlns:r="{related}"><sheets><sheet name="Bills" sheetId="1" r:id="rId1"/>'
            '<sheet name="Notes" sheetId="2" r:id="rId2"/></sheets></workbook>'
        ),
        "xl/_rels/workbook.xml.rels": (
            '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
            '<Relationship Id="rId1" Type="t" Target="worksheets/sheet1.xml"/>'
            '<Relationship Id="rId2" Type="t" Target="/xl/worksheets/sheet2.xml"/></Relationships>'
        ),
        "xl/sharedStrings.xml": (
            f'<sst xmlns="{main}"><si><t>Who</t></si><si><r><t>Mül</t></r><r><t>ler</t></r></si></sst>'
        ),
        "xl/styles.xml": (
            f'<styleSheet xmlns="{main}"><numFmts><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>'
            '<numFmt numFmtId="165" formatCode="0.00 &quot;days&quot;"/></numFmts>'
            '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
            "</styleSheet>"
        ),
        "xl/worksheets/sheet1.xml": (
            f'<worksheet xmlns="{main}"><sheetData>'
            '<row><c r="A1" t="s"><v>0</v></c><c r="C1" t="inlineStr"><is><t>When</t></is></c></row><row/>'
            '<row><c r="A3" t="s"><v>1</v></c><c r="B3"><v>12.5</v></c><c r="C3" s="2"><v>45000</v></c>'
            '<c r="D3" s="1"><v>45000.5</v></c><c r="E3" s="3"><v>3</v></c><c r="F3" t="b"><v>1</v></c></row>'
            "</sheetData></worksheet>"
        ),
        "xl/worksheets/sheet2.xml": f'<worksheet xmlns="{main}"><sheetData/></worksheet>',
    })  # fmt: skip


def epub() -> bytes:
    """Build a book of two chapters whose files are not in spine order."""
    page = "<html><head><title>x</title></head><body><h1>{head}</h1><p>{text}</p></body></html>"
    return zipped({
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/book.opf"/></rootfiles></container>'
        ),
        "OEBPS/book.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
            "<dc:title>The Whale</dc:title></metadata><manifest>"
            '<item id="a" href="two%20b.xhtml"/><item id="b" href="one.xhtml"/></manifest>'
            '<spine><itemref idref="b"/><itemref idref="a"/></spine></package>'
        ),
        "OEBPS/two b.xhtml": page.format(head="Second", text="It sank."),
        "OEBPS/one.xhtml": page.format(head="First", text="Call me."),
    })  # fmt: skip


MAIL = (
    b"From: =?utf-8?q?Anna_M=C3=BCller?= <anna@example.org>\r\nTo: me@example.org\r\nSubject: The bill\r\n"
    b"Date: Mon, 2 Nov 2026 10:00:00 +0100\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
    b"--b\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<p>Please <b>pay</b>.</p><script>x</script>\r\n"
    b'--b\r\nContent-Type: application/pdf\r\nContent-Disposition: attachment; filename="bill.pdf"\r\n\r\n%PDF\r\n'
    b"--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: x@example.org\r\nSubject: Before\r\n\r\nOlder words.\r\n"
    b"--b--\r\n"
)
