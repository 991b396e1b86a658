"""What a PIN may do: sell. It approves, administers and exports nothing, whatever its person may do elsewhere."""

PIN_RIGHTS = frozenset(
    {
        "catalogue.view_product",
        "catalogue.view_pricechange",
        "catalogue.sync_catalogue",
        "gateway.read_balance",
        "purchases.view_order",
        "purchases.buy",
        "purchases.view_number",
        "bills.view_billcheck",
        "bills.check_bill",
        "ledger.view_books",
        "customers.view_customer",
        "customers.add_customer",
        "customers.change_customer",
        "drawers.use_drawer",
        "drawers.give_back",
        "complaints.view_complaint",
        "complaints.handle_complaint",
        "credit.use_credit",
    }
)
