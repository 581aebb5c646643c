using Banking;
using FastPort.Protocol;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Testing.Tests;

/// <summary>What docs/testing.md shows: tests that a user writes.</summary>
public sealed class TellerTests
{
    // docs: server
    [Fact]
    public async Task An_account_pays_out()
    {
        await using TestServer test = await TestServer.StartAsync(builder =>
        {
            builder.Services.AddSingleton<IBank>(new FullBank());
            builder.MapService<TellerService>();
        });
        var teller = new TellerClient(test.Client);

        Balance balance = await teller.WithdrawAsync(new Withdrawal { Account = "ann" });

        Assert.Equal(90, balance.Left);
    }

    // docs: end

    // docs: request
    [Fact]
    public async Task A_withdrawal_ends_when_its_client_cancels()
    {
        await using TestRequest request = await TestRequest.CreateAsync(TellerMethods.Withdraw.Type);
        var service = new TellerService(new SlowBank());
        Task<Balance> withdrawal = service.WithdrawAsync(new Withdrawal { Account = "ann" }, request.Context).AsTask();

        request.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => withdrawal);
    }

    // docs: end

    // docs: substitute
    [Fact]
    public async Task A_bank_with_too_much_work_is_no_error()
    {
        var cashier = new Cashier(new BusyTeller());

        Assert.Equal("Come back later.", await cashier.PayOutAsync("ann"));
    }

    private sealed class BusyTeller : ITellerClient
    {
        public Task<Balance> WithdrawAsync(
            Withdrawal request, TimeSpan? timeout = null, CancellationToken cancellationToken = default) =>
            throw new RequestFailedException(ErrorCode.Overloaded, "Too much work.");
    }

    // docs: end
    [Fact]
    public async Task A_cashier_says_what_is_left()
    {
        await using TestServer test = await TestServer.StartAsync(builder =>
        {
            builder.Services.AddSingleton<IBank>(new FullBank());
            builder.MapService<TellerService>();
        });

        Assert.Equal("90 left", await new Cashier(new TellerClient(test.Client)).PayOutAsync("ann"));
    }

    private sealed class FullBank : IBank
    {
        public Task<long> WithdrawAsync(string account, CancellationToken cancellationToken) => Task.FromResult(90L);
    }

    private sealed class SlowBank : IBank
    {
        public async Task<long> WithdrawAsync(string account, CancellationToken cancellationToken)
        {
            await Task.Delay(Timeout.Infinite, cancellationToken);
            return 0;
        }
    }
}
