package member

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"slices"
	"time"
)

const (
	certYears = 10
	clockSkew = 24 * time.Hour // a certificate is valid for clocks that are late by so much
)

// authority signs the certificates of servers.
type authority struct {
	cert *x509.Certificate
	key  ed25519.PrivateKey
	pem  []byte // of cert
}

// newAuthority returns an authority for a cluster.
func newAuthority(cluster string) (a authority, err error) {
	public, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return a, err
	}
	c := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: "ctxfs " + cluster}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign, MaxPathLenZero: true,
	}
	c.NotBefore, c.NotAfter = validity()
	der, err := x509.CreateCertificate(rand.Reader, c, c, public, key)
	if err != nil {
		return a, err
	}
	a.key, a.pem = key, pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: der})
	a.cert, err = x509.ParseCertificate(der)
	return a, err
}

const (
	certBlock = "CERTIFICATE"
	keyBlock  = "PRIVATE KEY"
)

func validity() (from, to time.Time) {
	now := time.Now()
	return now.Add(-clockSkew), now.AddDate(certYears, 0, 0)
}

func serial() *big.Int {
	b := make([]byte, 16)
	rand.Read(b)
	return new(big.Int).SetBytes(b)
}

// readAuthority returns the authority of the machine where the cluster was made, or ErrConfig.
func (m Machine) readAuthority() (a authority, err error) {
	if !m.MakesTokens() {
		return a, fmt.Errorf("%w: the machine where the cluster was made signs certificates, and this one is another", ErrConfig)
	}
	if a.pem, err = os.ReadFile(m.path(caCert)); err != nil {
		return a, err
	}
	if a.cert, err = readCert(m.path(caCert)); err != nil {
		return a, err
	}
	data, err := os.ReadFile(m.path(caKey))
	if err != nil {
		return a, err
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return a, fmt.Errorf("%w: %s has no key", ErrConfig, m.path(caKey))
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return a, fmt.Errorf("%w: %s: %w", ErrConfig, m.path(caKey), err)
	}
	var ok bool
	if a.key, ok = key.(ed25519.PrivateKey); !ok {
		return a, fmt.Errorf("%w: %s has a key of another kind", ErrConfig, m.path(caKey))
	}
	return a, nil
}

// privatePEM returns a secret key.
func privatePEM(key ed25519.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return pem.EncodeToMemory(&pem.Block{Type: keyBlock, Bytes: der}), err
}

// sign returns a new certificate for a server, and its key. It is for the server as one that is connected
// to, by its addresses and on its own machine, and as one that connects to the others.
func (a authority) sign(s Address) (cert, key []byte, err error) {
	public, secret, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	c := &x509.Certificate{
		SerialNumber: serial(), Subject: pkix.Name{CommonName: s.Name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		DNSNames:    []string{"localhost"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	c.NotBefore, c.NotAfter = validity()
	for _, at := range []string{s.Hosts, s.Routes} {
		host, _, err := net.SplitHostPort(at)
		if err != nil {
			return nil, nil, err
		}
		if ip := net.ParseIP(host); ip == nil && !slices.Contains(c.DNSNames, host) {
			c.DNSNames = append(c.DNSNames, host)
		} else if ip != nil && !slices.ContainsFunc(c.IPAddresses, ip.Equal) {
			c.IPAddresses = append(c.IPAddresses, ip)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, public, a.key)
	if err != nil {
		return nil, nil, err
	}
	key, err = privatePEM(secret)
	return pem.EncodeToMemory(&pem.Block{Type: certBlock, Bytes: der}), key, err
}

// readCert reads a certificate, or returns ErrConfig.
func readCert(name string) (*x509.Certificate, error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("%w: %s has no certificate", ErrConfig, name)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrConfig, name, err)
	}
	return c, nil
}

// Expires returns when the first of the machine's certificates is no longer valid, or ErrConfig.
func (m Machine) Expires() (time.Time, error) {
	first, err := readCert(m.path(caCert))
	if err != nil {
		return time.Time{}, err
	}
	if m.IsServer() {
		own, err := readCert(m.path(serverCert))
		if err != nil {
			return time.Time{}, err
		}
		if own.NotAfter.Before(first.NotAfter) {
			return own.NotAfter, nil
		}
	}
	return first.NotAfter, nil
}
