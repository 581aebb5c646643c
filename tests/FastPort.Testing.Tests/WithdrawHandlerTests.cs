using FastPort.Protocol;
using Google.Protobuf;
using Microsoft.Extensions.DependencyInjection;
using Xunit;

namespace FastPort.Testing.Tests;

/// <summary>A handler class in a server, as docs/handlers.md shows it.</summary>
public sealed class WithdrawHandlerTests
{
    private const ushort Withdraw = 0x1001;

    // docs: server
    [Fact]
    public async Task An_account_pays_out()
    {
        await using TestServer test = await TestServer.StartAsync(builder =>
        {
            builder.Services.AddSingleton<IBank>(new FullBank());
            builder.AddHandler<WithdrawHandler, Echo, Echo>(Withdraw, Echo.Parser);
        });

        Echo left = await test.Client.RequestAsync(Withdraw, new Echo { Payload = ByteString.CopyFromUtf8("ann") }, Echo.Parser);

        Assert.Equal("90", left.Payload.ToStringUtf8());
    }

    // docs: end

    [Fact]
    public async Task A_withdrawal_ends_when_its_client_cancels()
    {
        await using TestRequest request = await TestRequest.CreateAsync(Withdraw);
        var handler = new WithdrawHandler(new SlowBank());
        Task<Echo> withdrawal = handler.HandleAsync(new Echo { Payload = ByteString.CopyFromUtf8("ann") }, request.Context).AsTask();

        request.Cancel();

        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => withdrawal);
    }

    [Fact]
    public async Task Without_an_account_the_client_is_told()
    {
        await using TestServer test = await TestServer.StartAsync(builder =>
        {
            builder.Services.AddSingleton<IBank>(new FullBank());
            builder.AddHandler<WithdrawHandler, Echo, Echo>(Withdraw, Echo.Parser);
        });

        RequestFailedException refused = await Assert.ThrowsAsync<RequestFailedException>(
            () => test.Client.RequestAsync(Withdraw, new Echo(), Echo.Parser));

        Assert.Equal("MalformedBody: Name an account.", refused.Message);
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
