"""Services of others whose specs say what their arguments are: everyday work and attacks upon it."""
