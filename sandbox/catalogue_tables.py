"""The products of Indonesian shops, as compact tables that `offers.py` turns into products. Money in rupiah."""

from datetime import time

# code, name, type
CATEGORIES = [
    ("pulsa", "Pulsa", "prepaid"),
    ("paket-data", "Paket Data", "prepaid"),
    ("sms-telepon", "Paket SMS & Telepon", "prepaid"),
    ("token-pln", "Token PLN", "prepaid"),
    ("voucher-game", "Voucher Game", "prepaid"),
    ("e-money", "E-Money", "prepaid"),
    ("streaming", "Streaming & TV Prabayar", "prepaid"),
    ("pln-pascabayar", "PLN Pascabayar", "postpaid"),
    ("pdam", "PDAM", "postpaid"),
    ("bpjs", "BPJS", "postpaid"),
    ("internet-tv", "Internet & TV Kabel", "postpaid"),
    ("hp-pascabayar", "HP Pascabayar", "postpaid"),
    ("multifinance", "Multifinance", "postpaid"),
]

# brand → (product code prefix, the operator's margin over the nominal at Rp10.000)
OPERATORS = {
    "Telkomsel": ("TSEL", 250),
    "Indosat": ("ISAT", 450),
    "XL": ("XL", 425),
    "AXIS": ("AXIS", 375),
    "Tri": ("TRI", 300),
    "Smartfren": ("SMART", 275),
    "by.U": ("BYU", 325),
}
PULSA_NOMINALS = [
    1_000, 2_000, 3_000, 5_000, 10_000, 15_000, 20_000, 25_000, 30_000, 40_000, 50_000, 75_000, 100_000, 150_000,
    200_000, 300_000, 500_000, 1_000_000,
]  # fmt: skip
# gigabytes, days, Telkomsel's price; other operators sell cheaper, see DATA_LEVEL
DATA_PACKAGES = [
    (1, 1, 5_950), (1.5, 3, 10_150), (2, 7, 14_900), (3, 7, 19_800), (3, 30, 31_500), (5, 30, 43_750),
    (8, 30, 57_250), (12, 30, 74_500), (17, 30, 91_000), (25, 30, 112_400), (35, 30, 139_900), (50, 30, 178_500),
]  # fmt: skip
DATA_LEVEL = {"Telkomsel": 100, "Indosat": 86, "XL": 88, "AXIS": 79, "Tri": 77, "Smartfren": 72, "by.U": 75}
# minutes, days, price
CALL_PACKAGES = [
    (30, 1, 3_350),
    (100, 3, 6_900),
    (170, 7, 11_450),
    (300, 7, 18_750),
    (550, 30, 46_300),
    (1000, 30, 89_500),
]
CALL_OPERATORS = ["Telkomsel", "Indosat", "XL", "AXIS"]
PLN_NOMINALS = [20_000, 50_000, 100_000, 200_000, 250_000, 500_000, 1_000_000, 5_000_000]

# brand → prefix, unit, {amount: price}
GAMES: dict[str, tuple[str, str, dict[int, int]]] = {
    "Mobile Legends": ("ML", "Diamonds", {
        5: 1_475, 12: 3_500, 28: 7_950, 59: 16_100, 86: 22_400, 172: 44_700, 257: 66_900, 344: 89_500, 706: 178_200,
        1412: 356_100, 2195: 537_000,
    }),
    "Free Fire": ("FF", "Diamonds", {
        5: 950, 12: 1_900, 50: 6_650, 70: 9_150, 140: 18_200, 355: 45_600, 720: 91_300, 1450: 181_500, 2180: 272_900,
    }),
    "PUBG Mobile": ("PUBG", "UC", {
        60: 14_250, 325: 70_400, 660: 140_300, 1800: 351_500, 3850: 703_000, 8100: 1_404_000,
    }),
    "Genshin Impact": ("GI", "Genesis Crystals", {
        60: 13_900, 330: 65_500, 1090: 204_800, 2240: 405_000, 3880: 676_000, 8080: 1_342_000,
    }),
    "Honkai: Star Rail": ("HSR", "Oneiric Shards", {
        60: 13_800, 330: 65_200, 1090: 203_900, 2240: 403_500, 3880: 673_000,
    }),
    "Valorant": ("VAL", "Points", {475: 54_200, 1000: 108_500, 2050: 216_000, 3650: 376_000, 5350: 537_500}),
    "Honor of Kings": ("HOK", "Tokens", {
        16: 2_950, 80: 14_500, 240: 43_100, 400: 71_600, 800: 143_000, 1200: 214_400,
    }),
    "Call of Duty Mobile": ("CODM", "CP", {
        31: 4_850, 62: 9_500, 127: 18_900, 317: 47_100, 634: 94_000, 1373: 188_200,
    }),
    "Arena of Valor": ("AOV", "Vouchers", {40: 9_450, 90: 18_900, 230: 47_100, 470: 94_200, 950: 188_100}),
    "Point Blank": ("PB", "Cash", {1200: 9_500, 2400: 18_950, 6000: 47_200, 12000: 94_300, 24000: 188_500}),
    "Roblox": ("RBX", "Robux", {80: 15_300, 400: 73_500, 800: 146_900, 1700: 293_500, 4500: 731_000}),
    "Steam Wallet": ("STEAM", "IDR", {
        12_000: 14_350, 45_000: 52_300, 60_000: 69_500, 90_000: 103_900, 120_000: 138_400, 250_000: 287_600,
        400_000: 459_500,
    }),
    "Google Play": ("GPLAY", "IDR", {
        10_000: 11_200, 20_000: 21_900, 50_000: 53_200, 100_000: 105_500, 150_000: 157_900, 300_000: 315_400,
        500_000: 525_200,
    }),
    "Garena Shells": ("GRN", "Shells", {33: 9_350, 66: 18_600, 165: 46_400, 330: 92_700, 660: 185_300}),
}  # fmt: skip

# brand → prefix, fee over the nominal
WALLETS = {
    "DANA": ("DANA", 275), "GoPay": ("GOPAY", 1_150), "GoPay Driver": ("GOJEK", 925), "OVO": ("OVO", 1_075),
    "ShopeePay": ("SPAY", 975), "LinkAja": ("LINK", 850), "Mandiri e-money": ("EMONEY", 1_350),
    "BRI Brizzi": ("BRIZZI", 1_150), "BNI TapCash": ("TAPCASH", 1_200), "GrabPay": ("GRAB", 1_300),
    "Maxim": ("MAXIM", 700),
}  # fmt: skip
WALLET_NOMINALS = [10_000, 20_000, 25_000, 50_000, 75_000, 100_000, 150_000, 200_000, 300_000, 500_000]

# brand → prefix, {package: price}
STREAMING: dict[str, tuple[str, dict[str, int]]] = {
    "Vidio": ("VIDIO", {"Platinum 1 Bulan": 38_900, "Platinum 3 Bulan": 96_500, "Platinum 12 Bulan": 286_000}),
    "Spotify": ("SPOTIFY", {"Premium 1 Bulan": 54_500, "Premium 3 Bulan": 161_500}),
    "Viu": ("VIU", {"Premium 1 Bulan": 29_600, "Premium 3 Bulan": 69_000}),
    "WeTV": ("WETV", {"VIP 1 Bulan": 38_500, "VIP 12 Bulan": 278_000}),
    "K-Vision": ("KVISION", {"Cling 1 Bulan": 51_500, "Juara 1 Bulan": 101_800, "Bola 1 Bulan": 149_900}),
    "Nex Parabola": ("NEX", {"Paket Jitu 1 Bulan": 36_400, "Paket Kombo 1 Bulan": 73_600}),
}

# category → brand → {product code: (product name, admin fee)}
BILLERS: dict[str, dict[str, dict[str, tuple[str, int]]]] = {
    "pln-pascabayar": {
        "PLN Pascabayar": {
            "PLNPASCA": ("PLN Pascabayar", 2_500),
            "PLNNONTAG": ("PLN Non-Taglis", 2_750),
        },
    },
    "bpjs": {
        "BPJS Kesehatan": {"BPJSKS": ("BPJS Kesehatan", 2_500), "BPJSKSDENDA": ("BPJS Kesehatan Denda", 2_500)},
        "BPJS Ketenagakerjaan": {"BPJSTK": ("BPJS Ketenagakerjaan BPU", 2_750)},
    },
    "internet-tv": {
        "IndiHome": {"INDIHOME": ("Telkom IndiHome", 2_750), "TELKOM": ("Telepon Rumah Telkom", 2_500)},
        "First Media": {"FIRSTMEDIA": ("First Media", 2_500)},
        "Biznet": {"BIZNET": ("Biznet Home", 2_500)},
        "MyRepublic": {"MYREP": ("MyRepublic", 2_500)},
        "CBN": {"CBN": ("CBN Fiber", 2_500)},
        "Iconnet": {"ICONNET": ("PLN Iconnet", 2_750)},
        "XL Home": {"XLHOME": ("XL Home", 2_500)},
        "Oxygen.id": {"OXYGEN": ("Oxygen.id Home", 2_500)},
        "MNC Vision": {"MNCVISION": ("MNC Vision", 2_500)},
        "Transvision": {"TRANSVISION": ("Transvision", 2_500)},
    },
    "hp-pascabayar": {
        "Telkomsel Halo": {"HALO": ("Telkomsel Halo", 2_000)},
        "IM3 Pascabayar": {"IM3PASCA": ("IM3 Pascabayar", 2_000)},
        "XL Prioritas": {"XLPRIO": ("XL Prioritas", 2_000)},
        "Smartfren Pascabayar": {"SMARTPASCA": ("Smartfren Pascabayar", 2_000)},
        "Tri Pascabayar": {"TRIPASCA": ("Tri Pascabayar", 2_000)},
    },
    "multifinance": {
        "FIF": {"FIF": ("FIF Group", 4_000)},
        "Adira": {"ADIRA": ("Adira Finance", 4_000)},
        "BAF": {"BAF": ("Bussan Auto Finance", 4_000)},
        "WOM": {"WOM": ("WOM Finance", 4_000)},
        "Mega": {"MEGAAUTO": ("Mega Auto Finance", 4_000), "MEGACENTRAL": ("Mega Central Finance", 4_000)},
        "Home Credit": {"HOMECREDIT": ("Home Credit", 4_500)},
        "Kredivo": {"KREDIVO": ("Kredivo", 3_500)},
    },
}

# waterworks: code suffix → name
PDAM = {
    "ACEHBESAR": "Kab. Aceh Besar", "MEDAN": "Tirtanadi Medan", "PADANG": "Kota Padang",
    "PEKANBARU": "Kota Pekanbaru", "JAMBI": "Kota Jambi", "PALEMBANG": "Tirta Musi Palembang",
    "BENGKULU": "Kota Bengkulu", "LAMPUNG": "Way Rilau Bandar Lampung", "JAKARTA": "PAM Jaya Jakarta",
    "TANGERANG": "Kota Tangerang", "KABTANGERANG": "Kab. Tangerang", "SERANG": "Kab. Serang", "BOGOR": "Kota Bogor",
    "KABBOGOR": "Kab. Bogor", "DEPOK": "Tirta Asasta Depok", "BEKASI": "Tirta Bhagasasi Bekasi",
    "BANDUNG": "Tirtawening Bandung", "KABBANDUNG": "Tirta Raharja Kab. Bandung", "CIREBON": "Kota Cirebon",
    "GARUT": "Kab. Garut", "TASIKMALAYA": "Kab. Tasikmalaya", "KARAWANG": "Kab. Karawang",
    "SEMARANG": "Tirta Moedal Semarang", "SOLO": "Toya Wening Surakarta", "YOGYAKARTA": "Tirtamarta Yogyakarta",
    "SLEMAN": "Kab. Sleman", "BANTUL": "Kab. Bantul", "MAGELANG": "Kota Magelang", "SALATIGA": "Kota Salatiga",
    "BANYUMAS": "Tirta Satria Banyumas", "SURABAYA": "Surya Sembada Surabaya", "SIDOARJO": "Delta Tirta Sidoarjo",
    "GRESIK": "Giri Tirta Gresik", "MALANG": "Tugu Tirta Malang", "KABMALANG": "Kab. Malang", "KEDIRI": "Kota Kediri",
    "JEMBER": "Kab. Jember", "BANYUWANGI": "Kab. Banyuwangi", "DENPASAR": "Kota Denpasar", "BADUNG": "Kab. Badung",
    "MATARAM": "Giri Menang Mataram", "KUPANG": "Kota Kupang", "PONTIANAK": "Tirta Khatulistiwa Pontianak",
    "PALANGKARAYA": "Kota Palangka Raya", "BANJARMASIN": "Bandarmasih Banjarmasin", "SAMARINDA": "Kota Samarinda",
    "BALIKPAPAN": "Kota Balikpapan", "MANADO": "Kota Manado", "PALU": "Kota Palu", "MAKASSAR": "Kota Makassar",
    "KENDARI": "Kota Kendari", "AMBON": "Kota Ambon", "JAYAPURA": "Kota Jayapura",
}  # fmt: skip

# nightly, Asia/Jakarta
PLN_CUT_OFF = (time(23, 30), time(0, 30))
