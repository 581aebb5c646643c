using Banking;

namespace FastPort.Testing.Tests;

// docs: service
public interface IBank
{
    Task<long> WithdrawAsync(string account, CancellationToken cancellationToken);
}

public sealed class TellerService(IBank bank) : TellerBase
{
    public override async ValueTask<Balance> WithdrawAsync(Withdrawal request, RequestContext context)
    {
        if (request.Account.Length == 0)
        {
            throw new RequestRefusedException(ErrorCode.MalformedBody, "Name an account.");
        }

        return new Balance { Left = await bank.WithdrawAsync(request.Account, context.Aborted) };
    }
}

// docs: end

// docs: cashier
public sealed class Cashier(ITellerClient teller)
{
    public async Task<string> PayOutAsync(string account)
    {
        try
        {
            Balance balance = await teller.WithdrawAsync(new Withdrawal { Account = account });
            return $"{balance.Left} left";
        }
        catch (RequestFailedException e) when (e.Code == ErrorCode.Overloaded)
        {
            return "Come back later.";
        }
    }
}

// docs: end
