"""Certificates no authority would make, signed by a trusted one.

    made = odd_certificates.make(folder, r)    folder/ca.pem, and folder/NAME.pem for each name in made.expected, with its key and chain:
                                               {NAME: is it right for the name "localhost"? None: either way}

made.broken has chains, as lists of DER, which OpenSSL does not load: none of them is right.

The certificates are written in DER here; the command openssl makes keys and signs.
"""
import base64
import subprocess

NAMES_MANY = 10000


# ---- DER ----


def der(tag, *parts):
    body = b"".join(parts)
    size = len(body)
    if size < 128:
        return bytes([tag, size]) + body
    length = size.to_bytes((size.bit_length() + 7) // 8, "big")
    return bytes([tag, 128 | len(length)]) + length + body


def oid(text):
    first, second, *rest = map(int, text.split("."))
    out = bytes([40 * first + second])
    for number in rest:
        part = bytes([number & 127])
        while number > 127:
            number >>= 7
            part = bytes([number & 127 | 128]) + part
        out += part
    return der(6, out)


def name(common, tag=0x0C):
    return der(0x30, der(0x31, der(0x30, oid("2.5.4.3"), der(tag, common))))


def extension(number, value, critical=False):
    return der(0x30, oid(number), der(1, b"\xff") if critical else b"", der(4, value))


def alternatives(*names):
    """Bytes are a dNSName; (tag, bytes) are taken as they are."""
    return extension("2.5.29.17", der(0x30, *(der(0x82, n) if isinstance(n, bytes) else der(*n) for n in names)))


def authority(critical=True):
    return extension("2.5.29.19", der(0x30, der(1, b"\xff")), critical)


ECDSA_SHA256 = der(0x30, oid("1.2.840.10045.4.3.2"))


def pem(body):
    return b"-----BEGIN CERTIFICATE-----\n" + base64.encodebytes(body) + b"-----END CERTIFICATE-----\n"


class Maker:
    def __init__(self, folder):
        self.folder, self.serial = folder, 1 << 24
        self.keys = {}
        for key in ("ca", "leaf"):
            path = "%s/%s.key" % (folder, key)
            subprocess.run(["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", path], check=True, capture_output=True)
            with open(path, "rb") as file:
                self.keys[key] = file.read()
        self.public = {key: self.openssl(["pkey", "-in", "%s/%s.key" % (folder, key), "-pubout", "-outform", "DER"]) for key in self.keys}

    def openssl(self, words, data=None):
        return subprocess.run(["openssl", *words], input=data, check=True, capture_output=True).stdout

    def certificate(self, subject, extensions, issuer=name(b"ca"), key="leaf", dates=(b"20200101000000Z", b"20990101000000Z"), signature=None):
        self.serial += 1
        body = der(0x30, der(0xA0, der(2, b"\2")), der(2, self.serial.to_bytes(4, "big")), ECDSA_SHA256, issuer,
                   der(0x30, der(0x18, dates[0]), der(0x18, dates[1])), subject, self.public[key],
                   der(0xA3, der(0x30, *extensions)) if extensions else b"")
        signature = signature or self.openssl(["dgst", "-sha256", "-sign", self.folder + "/ca.key"], body)
        return der(0x30, body, ECDSA_SHA256, der(3, b"\0" + signature))

    def write(self, called, chain):
        with open("%s/%s.pem" % (self.folder, called), "wb") as file:
            file.write(self.keys["leaf"] + b"".join(map(pem, chain)))


def chain_of(maker, length):
    """A leaf below so many authorities."""
    chain = [maker.certificate(name(b"authority %d" % i), [authority()], issuer=name(b"authority %d" % (i - 1)) if i else name(b"ca"), key="ca")
             for i in range(length)]
    leaf = maker.certificate(name(b"x"), [alternatives(b"localhost")], issuer=name(b"authority %d" % (length - 1)))
    return [leaf, *reversed(chain)]


class Made:
    def __init__(self, expected, broken):
        self.expected, self.broken = expected, broken


def make(folder, r, longest=5):
    m = Maker(folder)
    with open(folder + "/ca.pem", "wb") as file:
        file.write(pem(m.certificate(name(b"ca"), [authority()], key="ca")))
    right = alternatives(b"localhost")
    leaves = {
        "good": (True, name(b"x"), [right], {}),
        "upper-case": (True, name(b"x"), [alternatives(b"LocalHost")], {}),
        "expired": (False, name(b"x"), [right], {"dates": (b"20200101000000Z", b"20210101000000Z")}),
        "not-yet": (False, name(b"x"), [right], {"dates": (b"20980101000000Z", b"20990101000000Z")}),
        "odd-date": (None, name(b"x"), [right], {"dates": (b"20200101000000Z", b"99999999999999Z")}),
        "another": (False, name(b"localhost"), [alternatives(b"example.com")], {}),
        "another-authority": (False, name(b"x"), [right], {"issuer": name(b"stranger")}),
        "bad-signature": (False, name(b"x"), [right], {"signature": der(0x30, der(2, b"\1"), der(2, b"\1"))}),
        "no-signature": (False, name(b"x"), [right], {"signature": r.randbytes(70)}),
        "nul": (False, name(b"localhost\0.example.com"), [alternatives(b"localhost\0.example.com", b"localhost\0")], {}),
        "nul-first": (False, name(b"x"), [alternatives(b"\0localhost")], {}),
        "wildcard": (False, name(b"x"), [alternatives(b"*", b"*.localhost", b"local*")], {}),
        "empty": (False, name(b""), [alternatives(b"")], {}),
        "common-nul": (False, name(b"localhost\0x"), [], {}),
        "only-email": (None, name(b"localhost"), [alternatives((0x81, b"localhost"), (0x86, b"https://localhost"))], {}),
        "other-name": (False, name(b"x"), [alternatives((0xA0, oid("1.2.3") + der(0xA0, der(0x0C, b"localhost"))))], {}),
        "short-address": (False, name(b"x"), [alternatives((0x87, b"\x7f\0\0"), (0x87, b"\x7f\0\0\1x"))], {}),
        "not-utf8": (True, name(b"\xff\xfe\x80\x1b[31m", 0x14), [right], {}),
        "control": (True, name(b"\x1b]0;x\x07\r\nX: y\0" * 9), [right], {}),
        "long-name": (None, name(b"x" * 50000), [right], {}),
        "many-names": (None, name(b"x"), [alternatives(*(b"n%d" % i for i in range(NAMES_MANY)), b"localhost")], {}),
        "names": (True, name(b"x"), [alternatives(*(b"name-%d.example.com" % i for i in range(1000)), b"localhost")], {}),
        "critical": (False, name(b"x"), [right, extension("1.2.3.4", b"\5\0", True)], {}),
        "not-critical": (True, name(b"x"), [right, extension("1.2.3.4", r.randbytes(900))], {}),
        "client": (False, name(b"x"), [right, extension("2.5.29.37", der(0x30, oid("1.3.6.1.5.5.7.3.2")))], {}),
        "no-extension": (False, name(b"x"), [], {}),
    }
    expected = {}
    for called, (good, subject, extensions, more) in leaves.items():
        expected[called] = good
        m.write(called, [m.certificate(subject, extensions, **more)])
    for length in (1, longest):
        expected["chain-%d" % length] = True if length < 50 else None
        m.write("chain-%d" % length, chain_of(m, length))
    broken = {
        "not UTF-8": [m.certificate(name(b"\xff\xfe\x80\x1b[31m"), [right])],
        "odd BMP string": [m.certificate(name(b"abc", 0x1E), [right])],
        "a name that is a number": [m.certificate(name(b"abc", 0x02), [right])],
        "bad names": [m.certificate(name(b"x"), [extension("2.5.29.17", r.randbytes(40))])],
        "names twice": [m.certificate(name(b"x"), [right, alternatives(b"example.com")])],
        "no certificate": [],
        "an empty certificate": [b""],
        "no DER": [r.randbytes(500)],
        "a thousand": [m.certificate(name(b"x"), [right])] * 1000,
        "15 MB": [der(0x30, bytes(15 << 20))],
    }
    return Made(expected, broken)
