using System.Security.Claims;
using System.Text;
using FastPort.Security.Identities;
using Xunit;

namespace FastPort.Security.Tests.Identities;

public sealed class UserFileTests
{
    private static readonly string Hash = PasswordHash.Create("secret").ToString();

    [Fact]
    public void Users_have_their_passwords_and_roles()
    {
        List<string> problems = [];
        string text = $"\uFEFF# staff\r\n\r\nanna:{Hash}:operator, night\nbert:{Hash}\n";
        UserFile? file = UserFile.Read(Encoding.UTF8.GetBytes(text), problems);

        Assert.Empty(problems);
        Assert.Equal(2, file!.Count);
        ClaimsPrincipal anna = file.Verify("anna", "secret")!;
        Assert.Equal("anna", anna.Identity!.Name);
        Assert.True(anna.IsInRole("operator") && anna.IsInRole("night") && !anna.IsInRole(" night"));
        Assert.False(file.Verify("bert", "secret")!.IsInRole("operator"));
        Assert.Null(file.Verify("bert", "Secret"));
        Assert.Null(file.Verify("nobody", "secret"));
        Assert.Null(file.Verify("nobody", string.Empty));
    }

    [Fact]
    public void What_is_wrong_is_said_with_the_line_and_without_the_hash()
    {
        List<string> problems = [];

        string text = $"anna\n:{Hash}\nbert:$2y$secret\ncarl:{Hash}\ncarl:{Hash}\na:b:c:d\nanna\u200B:{Hash}\n";
        Assert.Null(UserFile.Read(Encoding.UTF8.GetBytes(text), problems));

        Assert.Equal(6, problems.Count);
        Assert.Equal([1, 2, 3, 5, 6, 7], problems.Select(static p => int.Parse(p.Split(' ', ',', '.', ':')[1])));
        Assert.DoesNotContain(problems, static p => p.Contains("secret", StringComparison.Ordinal));
        Assert.DoesNotContain(problems, static p => p.Contains(Hash, StringComparison.Ordinal));
    }

    [Fact]
    public void Every_name_costs_the_same_whether_it_exists_or_not()
    {
        string dear = "$argon2id$v=19$m=65536,t=3,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA";
        UserFile file = UserFile.Read(Encoding.UTF8.GetBytes($"anna:{Hash}\nbert:{dear}\ncarl:{Hash}\n"), [])!;

        Assert.Equal([(19_456, 2), (65_536, 3)], CostsOf("nobody"));
        Assert.All(["anna", "bert", "carl"], name => Assert.Equal(CostsOf("nobody"), CostsOf(name)));
        Assert.Equal([(19_456, 2)], UserFile.Read([], [])!.HashesFor(null).Select(static hash => hash.Cost));
        Assert.NotNull(file.Verify("carl", "secret"));
        Assert.Null(file.Verify("bert", "secret"));
        Assert.Null(file.Verify("nobody", "secret"));

        IEnumerable<(int, int)> CostsOf(string name) => file.HashesFor(file.HashOf(name)).Select(static hash => hash.Cost);
    }

    [Fact]
    public void A_file_that_is_no_text_is_refused()
    {
        List<string> problems = [];

        Assert.Null(UserFile.Read([0x61, 0xFF], problems));

        Assert.Contains("UTF-8", Assert.Single(problems), StringComparison.Ordinal);
    }
}
