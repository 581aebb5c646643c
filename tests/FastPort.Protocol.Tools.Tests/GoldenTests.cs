using FastPort.Protocol.Tools.Contracts;
using FastPort.Protocol.Tools.Generation;
using Xunit;

namespace FastPort.Protocol.Tools.Tests;

/// <summary>What is generated from a contract with all features. To accept a change, copy the file that the failure names.</summary>
public sealed class GoldenTests
{
    [Theory]
    [InlineData("features", false)]
    [InlineData("bare", true)]
    public void A_contract_becomes_its_golden_file(string name, bool isInternal)
    {
        string golden = Path.Combine(AppContext.BaseDirectory, "Golden", $"{name}.services.txt");
        using var protoc = new Protoc();
        string source = File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Golden", $"{name}.proto"));
        Contract contract = protoc.Read($"{name}.proto", source);
        Assert.Empty(ContractChecks.Check([contract]));

        string actual = ContractWriter.Write(contract, isInternal);

        string kept = Path.Combine(AppContext.BaseDirectory, $"{name}.services.txt");
        File.WriteAllText(kept, actual);
        Assert.True(File.Exists(golden) && File.ReadAllText(golden) == actual, $"{kept} differs from Golden/{name}.services.txt.");
    }

    [Fact]
    public void A_file_without_services_becomes_a_comment() =>
        Assert.All(
            ContractWriter.Write(Protoc.ReadGame(""), isInternal: false).TrimEnd().Split('\n'),
            static line => Assert.StartsWith("//", line, StringComparison.Ordinal));

    [Theory]
    [InlineData('\r', "/// one", "/// two")]
    [InlineData('\u0085', "/// one", "/// two")]
    [InlineData('\u2028', "/// one", "/// two")]
    [InlineData('\u2029', "/// one", "/// two")]
    [InlineData('\u0001', "/// <summary>one two</summary>")]
    [InlineData('\f', "/// <summary>one two</summary>")]
    public void A_comment_stays_a_comment_whatever_is_in_it(char separator, params string[] lines)
    {
        string service = $$"""
            /* one{{separator}}two */
            service Move { option (fastport.first_type) = 0x1000; rpc Walk(Ask) returns (Answer); }
            """;

        string code = ContractWriter.Write(Protoc.ReadGame(service), isInternal: false);

        Assert.All(lines, line => Assert.Contains($"{line}\n", code, StringComparison.Ordinal));
        Assert.DoesNotContain(separator, code);
    }
}
