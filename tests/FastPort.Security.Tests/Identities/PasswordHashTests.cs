using FastPort.Security.Identities;
using Xunit;

namespace FastPort.Security.Tests.Identities;

public sealed class PasswordHashTests
{
    private static readonly string[] Wrong =
    [
        "", "password", "$argon2id$", "$argon2i$v=19$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=16$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=64,t=2,p=2$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=999999999,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=64,t=99,p=1$c29tZXNhbHRzb21lc2FsdA$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=64,t=2,p=1$c2FsdA$AAAAAAAAAAAAAAAAAAAAAA", "$argon2id$v=19$m=64,t=2,p=1$!!!!$AAAAAAAAAAAAAAAAAAAAAA",
        "$argon2id$v=19$m=64,t=2,p=1$c29tZXNhbHRzb21lc2FsdA$AAAA",
    ];

    [Theory]
    [InlineData("correct horse battery staple")]
    [InlineData("")]
    [InlineData("pässwörd 🔑")]
    public void A_password_is_verified_through_its_text(string password)
    {
        string text = PasswordHash.Create(password).ToString();

        Assert.True(PasswordHash.TryParse(text)!.Verify(password));
        Assert.False(PasswordHash.TryParse(text)!.Verify(password + "x"));
        Assert.Equal(text, PasswordHash.TryParse(text)!.ToString());
    }

    [Fact]
    public void Two_hashes_of_a_password_differ() =>
        Assert.NotEqual(PasswordHash.Create("a").ToString(), PasswordHash.Create("a").ToString());

    [Fact]
    public void Other_texts_are_no_hashes() => Assert.All(Wrong, static text => Assert.Null(PasswordHash.TryParse(text)));
}
