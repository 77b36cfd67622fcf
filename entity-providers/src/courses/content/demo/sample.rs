//! Small files of common types, made by code: what the demo university would have scanned and drawn.

/// Returns the bytes of a sample file with this name, of the type that its ending tells.
pub(super) fn of(name: &str) -> Vec<u8> {
    match name.rsplit_once('.') {
        Some((title, "pdf")) => pdf(title),
        Some((_, "png")) => png(),
        _ => format!("{name}\n\nA file of the demo university.\n").into_bytes(),
    }
}

/// A page with one line of text, which must be ASCII without brackets.
fn pdf(title: &str) -> Vec<u8> {
    let text = format!("BT /F1 24 Tf 72 720 Td ({title}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{text}\nendstream", text.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut index = "0000000000 65535 f \n".to_owned();
    for (number, object) in (1..).zip(&objects) {
        index.extend([format!("{:010} 00000 n \n", file.len())]);
        file.extend([format!("{number} 0 obj\n{object}\nendobj\n")]);
    }
    let (start, size) = (file.len(), objects.len().saturating_add(1));
    let end = format!(
        "xref\n0 {size}\n{index}trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    );
    [file, end].concat().into_bytes()
}

/// The number of pixels on each side of the picture.
const SIDE: u8 = 64;

/// A picture of a cell: a circle with a nucleus, in shades of grey.
fn png() -> Vec<u8> {
    let mut pixels = Vec::new();
    for y in 0..SIDE {
        pixels.push(0);
        for x in 0..SIDE {
            let [x, y] = [x, y].map(|it| i32::from(it) - i32::from(SIDE / 2));
            pixels.push(match x * x + y * y {
                0..100 => 64,
                100..700 => 224,
                700..900 => 96,
                _ => 255,
            });
        }
    }
    let mut file = b"\x89PNG\r\n\x1a\n".to_vec();
    let size = [0, 0, 0, SIDE];
    let head = [&size[..], &size, &[8, 0, 0, 0, 0]].concat();
    for (kind, data) in [
        (b"IHDR", head),
        (b"IDAT", stored(&pixels)),
        (b"IEND", Vec::new()),
    ] {
        let length = u32::try_from(data.len()).unwrap_or_default();
        let named = [&kind[..], &data].concat();
        file.extend(length.to_be_bytes());
        file.extend(&named);
        file.extend(crc(&named).to_be_bytes());
    }
    file
}

/// Returns `data`, which must have fewer than 65,536 bytes, as a stream of zlib that is not compressed.
fn stored(data: &[u8]) -> Vec<u8> {
    let length = u16::try_from(data.len()).unwrap_or_default();
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(data);
    let (a, b) = data.iter().fold((1_u32, 0_u32), |(a, b), byte| {
        let a = (a + u32::from(*byte)) % 65_521;
        (a, (b + a) % 65_521)
    });
    stream.extend((b << 16 | a).to_be_bytes());
    stream
}

/// Returns the checksum of a part of a picture.
fn crc(data: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in data {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            crc = crc >> 1 ^ (0xEDB8_8320 & (crc & 1).wrapping_neg());
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_what_their_names_tell() {
        assert_eq!(crc(b"123456789"), 0xCBF4_3926);
        assert!(stored(b"abc").ends_with(&[0x02, 0x4d, 0x01, 0x27]));
        let pdf = String::from_utf8(of("map.pdf")).unwrap();
        let start = pdf.find("xref").unwrap();
        assert!(pdf.contains("(map) Tj") && pdf.contains(&format!("startxref\n{start}\n")));
        assert!(of("cell.png").starts_with(b"\x89PNG"));
        assert!(of("a.txt").starts_with(b"a.txt"));
    }
}
